"""One walk over the blocks of a page for all formats that people read; a format is a record of what differs.

Rows that were not run are counted below a table, and the CSV has their reasons; those without any number are left out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from nmtcore.reporting.table import TEXTS, Block, Column, Heading, Items, Paragraph, Table, TableCell

MOST_REASONS = 3
"""Reasons for empty cells up to which they are listed below a table."""

MOST_COLUMNS = 6
"""Columns beside the first of one part of a wide table, unless more have the same heading above them."""

MISSING = "–"
"""What stands in a cell that is empty for a reason."""


class Format(NamedTuple):
    """What differs between formats: how texts are escaped, and templates (`str.format`) of what is around them."""

    own: Callable[[str], str]
    """Escapes our own text, outside of code in backticks."""
    corpus: Callable[[str], str]
    """Escapes text of a corpus."""
    number: Callable[[str], str]
    """Escapes a number."""
    in_code: Callable[[str], str]
    """Escapes code."""
    code: str
    heading: str
    paragraph: str
    item: str
    items: str
    table: Callable[..., str]
    """Formats a table, given also the format and the options of the walk."""

    def marked(self, text: str) -> str:
        """Format our own text, with code in backticks."""
        parts = text.split("`")
        if len(parts) % 2 == 0:
            return self.own(text)
        return "".join(
            self.code.format(self.in_code(part)) if position % 2 else self.own(part)
            for position, part in enumerate(parts)
        )

    def value(self, column: Column, cell: TableCell) -> str:
        """Format the value of a cell, without its mark."""
        if cell.value is None:
            return self.own(MISSING) if cell.reason else ""
        text = column.shown(cell)
        match column.content:
            case "text":
                return self.marked(text)
            case "corpus":
                return self.corpus(text)
            case "code":
                return text and self.code.format(self.in_code(text))
            case _:
                return self.number(text)


def rendered(blocks: Iterable[Block], form: Format, separator: str = "", **options: Any) -> str:
    """Format parts of a page; a `heading` may name an option, such as its level."""
    return separator.join(_block(block, form, options) for block in blocks)


def _block(block: Block, form: Format, options: Mapping[str, Any]) -> str:
    match block:
        case Heading():
            return form.heading.format(form.marked(block.whole), **options)
        case Paragraph():
            return form.paragraph.format(form.marked(block.text) + form.corpus(block.corpus))
        case Items():
            return form.items.format("".join(form.item.format(form.marked(_line(text))) for text in block.texts))
        case Table():
            return form.table(block, form, options)


def _line(text: str) -> str:
    return " ".join(text.splitlines())


def notes_below(whole: Table, table: Table) -> Iterator[str]:
    """Yield sentences below a table, given whole and as it is shown: what is missing, and its own notes."""
    rows, missing = sum(1 for _ in whole.rows), len(whole.not_run)
    if missing:
        line = f"Not run: {'all' if missing == rows else f'{missing} of'} {rows} rows; the CSV says why."
        yield f"{line} `{whole.command}` makes the runs that are missing." if whole.command else line
    empty = dict.fromkeys(cell.reason for row in table.rows for cell in row if cell.reason and cell.value is None)
    if empty:
        reasons = "; ".join(empty) if len(empty) <= MOST_REASONS else f"{len(empty)} reasons, which the CSV names"
        yield f"{MISSING}: {reasons}."
    yield from table.notes


def header_groups(table: Table) -> list[tuple[str, int]]:
    """List the headings above the names of columns with how many they span; a column without one is alone."""
    runs = groupby(enumerate(table.columns), key=lambda item: item[1].group or item[0])
    return [("" if isinstance(name, int) else name, len(list(columns))) for name, columns in runs]


def column_parts(table: Table, most: int = MOST_COLUMNS) -> list[Table]:
    """Divide a table with many columns into several, each with the first column, and without the rows that are empty.

    Columns with the same heading above them stay together.
    """
    parts: list[list[int]] = [[]]
    position = 1
    for _, width in header_groups(replace(table, columns=table.columns[1:], groups=())):
        if parts[-1] and len(parts[-1]) + width > most:
            parts.append([])
        parts[-1] += range(position, position + width)
        position += width
    divided = []
    for positions in parts if len(parts) > 1 else []:
        columns = tuple(table.columns[own] for own in (0, *positions))
        rows = (
            [row for row in group if any(row[own].value is not None for own in positions)] for group in table.groups
        )
        groups = tuple(tuple((row[0], *(row[own] for own in positions)) for row in group) for group in rows if group)
        divided.append(replace(table, columns=columns, groups=tuple(filter(None, groups))))
    return [part for part in divided if part.groups] or [table]


def is_grouped(table: Table) -> bool:
    """Return whether the first column alone names the rows: those of a table whose columns have headings above them."""
    return any(column.group for column in table.columns)


def aligned_parts(column: Column, cell: TableCell) -> tuple[str, str]:
    """Divide a cell as it is shown: a number, whose decimals are aligned, and what follows, a deviation and a mark."""
    if column.content in TEXTS or cell.value is None:
        return "", cell.mark
    number, sign, deviation = column.shown(cell).partition(" ± ")
    return number, f"{sign}{deviation}{cell.mark}"
