"""Pages of results in all formats; as CSV they are raw numbers with all their digits, and empty cells are empty."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from nmtcore.files import write_texts
from nmtcore.reporting.labelled import printed_page
from nmtcore.reporting.markdown import page_markdown
from nmtcore.reporting.table import Page, Table
from nmtcore.reporting.table_latex import page_latex


def page_csv(page: Page) -> str:
    """Format the tables of a page; those with equal columns are one, others have an empty line between them.

    A mean has two columns, an interval too, a difference with its interval three; a column with marks is followed by
    one for the marks, and one with reasons by one for the reasons.
    """
    parts = [list(_records(table)) for table in page.tables]
    same = (list(own) for _, own in groupby(parts, key=lambda records: records[0]))
    return "\n".join(
        "".join(map(_line, [own[0][0], *(record for records in own for record in records[1:])])) for own in same
    )


def _line(record: Sequence[Any]) -> str:
    """Write a line by the csv module, which quotes a carriage return only if lines end in one."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(record)
    return line.getvalue().removesuffix("\r\n") + "\n"


def _records(table: Table) -> Iterator[list[Any]]:
    """Yield the header and the rows."""
    by_column = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    header, more = list(table.keys), []
    for column, cells in zip(table.columns, by_column, strict=True):
        has_mark, has_reason = (any(own) for own in ((cell.mark for cell in cells), (cell.reason for cell in cells)))
        name = column.raw_names[0].removesuffix(", low")
        header += [*column.raw_names, *[f"{name}, mark"] * has_mark, *[f"{name}, reason"] * has_reason]
        more.append((has_mark, has_reason))
    yield header
    for row in table.rows:
        record: list[Any] = list(table.keys.values())
        for column, cell, (has_mark, has_reason) in zip(table.columns, row, more, strict=True):
            record += [*column.raw(cell), *[cell.mark.strip()] * has_mark, *[cell.reason] * has_reason]
        yield record


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
