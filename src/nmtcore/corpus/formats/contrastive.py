"""The format `contrastive`: contrastive pairs as JSON of LingEval97, or in lines with tabs below a header."""

from collections.abc import Iterator

from nmtcore.config.formats import ContrastiveOptions
from nmtcore.corpus.contrasts import ContrastEntry, read_contrasts
from nmtcore.corpus.formats.rows import Inputs, ReadingContext, Row
from nmtcore.corpus.pairs import Side

ALIGNED = False


def entries(inputs: Inputs, options: ContrastiveOptions) -> Iterator[ContrastEntry]:
    """Yield the entries of all files, one after the other."""
    return (entry for file in inputs["pairs"] for entry in read_contrasts(file))


def rows(inputs: Inputs, options: ContrastiveOptions) -> Iterator[Row]:
    """Yield the source of each entry with its right translation, and then with each wrong one."""
    return (pair for entry in entries(inputs, options) for pair in entry.pairs)


def parse(row: Row, options: ContrastiveOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Return the sides of a finished pair."""
    source, target = row
    return source, target
