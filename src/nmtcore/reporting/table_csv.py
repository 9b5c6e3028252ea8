"""Tables as CSV: raw numbers with all their digits, empty cells empty."""

import re
from collections.abc import Sequence

from nmtcore.reporting.table import Column, Page, Table, TableCell

_QUOTED = re.compile(r'[",\r\n]|^\s|\s$')
"""What a field contains that must be quoted."""


def page_csv(page: Page) -> str:
    """Format the tables of a page; those with equal columns are one, others have an empty line between them.

    A mean has two columns, as has an interval; a column with marks is followed by one for the marks, and one with
    reasons by one for the reasons.
    """
    parts: list[list[list[str]]] = []
    for table in page.tables:
        header, *rows = _records(table)
        if parts and parts[-1][0] == header:
            parts[-1] += rows
        else:
            parts.append([header, *rows])
    return "\n".join("".join(_line(record) for record in part) for part in parts)


def _records(table: Table) -> list[list[str]]:
    """Return the header and the rows."""
    by_column = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    marked = [any(cell.mark for cell in cells) for cells in by_column]
    reasoned = [any(cell.reason for cell in cells) for cells in by_column]
    flags = list(zip(marked, reasoned, strict=True))
    header = list(table.keys)
    for column, (has_mark, has_reason) in zip(table.columns, flags, strict=True):
        header += [*column.raw_names, *[f"{column.name}, mark"] * has_mark, *[f"{column.name}, reason"] * has_reason]
    records = [header]
    for row in table.rows:
        record = [_field(value) for value in table.keys.values()]
        for column, cell, (has_mark, has_reason) in zip(table.columns, row, flags, strict=True):
            record += [*_raw_fields(column, cell), *[cell.mark.strip()] * has_mark, *[cell.reason] * has_reason]
        records.append(record)
    return records


def _raw_fields(column: Column, cell: TableCell) -> list[str]:
    return list(map(_field, column.raw(cell)))


def _field(value: str | int | float | None) -> str:
    return "" if value is None else value if isinstance(value, str) else repr(value)


def _line(record: Sequence[str]) -> str:
    """Quote the fields that need it; also the only field of a line if it is empty, since the line would be empty."""
    fields = [
        '"' + field.replace('"', '""') + '"' if _QUOTED.search(field) or (not field and len(record) == 1) else field
        for field in record
    ]
    return ",".join(fields) + "\n"
