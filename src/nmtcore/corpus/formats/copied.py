"""The format `copied`: monolingual text, one sentence per line, used as both sides (Currey et al. 2017)."""

from collections.abc import Iterator

from nmtcore.config.formats import CopiedOptions
from nmtcore.corpus.formats.rows import Inputs, ReadingContext, Row, decode, lines
from nmtcore.corpus.pairs import Side

ALIGNED = False


def rows(inputs: Inputs, options: CopiedOptions) -> Iterator[Row]:
    """Yield the lines of all files, one after the other."""
    return ((line,) for file in inputs["text"] for line in lines(file))


def parse(row: Row, options: CopiedOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Decode the line once, for both sides."""
    side = Side(text=decode(row[0]))
    return side, side
