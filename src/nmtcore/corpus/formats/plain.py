"""The format `plain`: two parallel plain text files, one sentence per line."""

from collections.abc import Iterator

from nmtcore.config.formats import PlainOptions
from nmtcore.corpus.formats.rows import Inputs, ReadingContext, Row, decode, lines, pair_pieces
from nmtcore.corpus.pairs import SIDES, Side

ALIGNED = True


def rows(inputs: Inputs, options: PlainOptions) -> Iterator[Row]:
    """Yield (source line, target line)."""
    return pair_pieces(inputs, dict.fromkeys(SIDES, lines))


def parse(row: Row, options: PlainOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Decode both lines."""
    return Side(text=decode(row[0])), Side(text=decode(row[1]))
