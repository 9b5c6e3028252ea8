"""The format `tsv`: one sentence pair per line, in columns separated by tabs or another separator."""

from collections.abc import Iterator

from nmtcore.config.formats import TsvOptions
from nmtcore.corpus.formats.rows import BadRow, Inputs, ReadingContext, Row, decode, lines
from nmtcore.corpus.pairs import Side

ALIGNED = False


def rows(inputs: Inputs, options: TsvOptions) -> Iterator[Row]:
    """Yield the lines of all files, one after the other."""
    return ((line,) for file in inputs["pairs"] for line in lines(file))


def parse(row: Row, options: TsvOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Take the source and target columns. Raises `BadRow` if the line has too few columns."""
    columns = decode(row[0]).split(options.separator)
    last_column = max(options.source_column, options.target_column)
    if len(columns) < last_column:
        raise BadRow("columns", row[0], f"has {len(columns)} columns, but the options name column {last_column}.")
    return Side(text=columns[options.source_column - 1]), Side(text=columns[options.target_column - 1])
