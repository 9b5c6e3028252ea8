"""One file, a pair a line, columns between tabs or another separator."""

from collections.abc import Iterator

from nmtcore.config.formats import TsvOptions
from nmtcore.corpus.formats.rows import BadRow, Inputs, ReadingContext, Row, decode, lines
from nmtcore.corpus.pairs import Side

ALIGNED = False


def rows(inputs: Inputs, options: TsvOptions) -> Iterator[Row]:
    """Yield the lines of all files, one after the other."""
    return ((line,) for file in inputs["pairs"] for line in lines(file))


def parse(row: Row, options: TsvOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Take the two columns. Raises `BadRow` where the line has fewer."""
    columns = decode(row[0]).split(options.separator)
    wanted = max(options.source_column, options.target_column)
    if len(columns) < wanted:
        raise BadRow("columns", row[0], f"has {len(columns)} columns; column {wanted} is asked for.")
    return Side(text=columns[options.source_column - 1]), Side(text=columns[options.target_column - 1])
