"""Pages of results in all formats; as CSV they are raw numbers with all their digits, and empty cells are empty."""

import csv
import io
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

from nmtcore.files import write_texts
from nmtcore.tables.blocks import Page, Table
from nmtcore.tables.labels import printed_page
from nmtcore.tables.latex import page_latex
from nmtcore.tables.render import page_markdown


def page_csv(page: Page) -> str:
    """Write the tables of a page; those with equal columns are one, others have an empty line between them.

    A mean has two columns, an interval too, a difference with its interval three; a column with marks is followed by
    one for the marks, and one with reasons by one for the reasons.
    """
    same = groupby(map(_records, page.tables), key=lambda records: records[0])
    return "\n".join(
        "".join(map(_csv_line, [header, *(record for records in tables for record in records[1:])]))
        for header, tables in same
    )


def _csv_line(record: Sequence[object]) -> str:
    """Write a line by the csv module, which quotes a carriage return only if lines end in one."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(record)
    return line.getvalue().removesuffix("\r\n") + "\n"


def _records(table: Table) -> list[tuple[object, ...]]:
    """List the header and the rows."""
    rows = sum(1 for _ in table.rows)
    columns: list[Sequence[object]] = [[name, *[value] * rows] for name, value in table.keys.items()]
    for column, cells in table.by_column:
        columns += zip(column.raw_names, *map(column.raw, cells), strict=True)
        name = column.raw_names[0].removesuffix(", low")
        more = {"mark": [cell.mark.strip() for cell in cells], "reason": [cell.reason for cell in cells]}
        columns += [[f"{name}, {key}", *texts] for key, texts in more.items() if any(texts)]
    return list(zip(*columns, strict=True))


PAGE_FORMATS: dict[str, Callable[[Page], str]] = {".md": page_markdown, ".csv": page_csv, ".tex": page_latex}
"""The formats by the ending of the file."""


def write_page(page: Page, path: Path) -> str:
    """Write a page as Markdown to `path`, and in the other formats next to it; return the Markdown.

    All but CSV have labels in place of names.
    """
    shown = printed_page(page)
    texts = {
        path.with_suffix(ending): formatted(page if ending == ".csv" else shown)
        for ending, formatted in PAGE_FORMATS.items()
    }
    write_texts(texts)
    return texts[path.with_suffix(".md")]
