"""Pages of results in all formats, and tables for the terminal.

As CSV they are raw numbers with all their digits, and empty cells are empty.
"""

import csv
import io
import shutil
import textwrap
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from unicodedata import combining, east_asian_width

from nmtcore.files import write_texts
from nmtcore.tables.blocks import Column, Page, Table, make_table
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
    """Write a page as Markdown to `path`, and in the other formats next to it; return the Markdown."""
    texts = {path.with_suffix(ending): formatted(page) for ending, formatted in PAGE_FORMATS.items()}
    write_texts(texts)
    return texts[path.with_suffix(".md")]


def table_text(table: Table, *, dispensable: Sequence[int] = ()) -> str:
    """Format a table with aligned columns; if it is too wide, without the dispensable ones, in their order."""
    lines = _lines(table)
    for position in range(len(dispensable)):
        if max(map(_width, lines)) <= shutil.get_terminal_size().columns:
            break
        left_out = dispensable[: position + 1]
        kept = [column for column in range(len(table.columns)) if column not in left_out]
        lines = _lines(table.part(kept, lambda row: True))
    return "".join(f"{line}\n" for line in lines)


def terminal_table(header: Sequence[str], rows: Sequence[Sequence[str | None]], *, text: int = 1) -> str:
    """Format a table of texts whose first `text` columns are aligned left and whose others are aligned right.

    None is an empty cell. Raises `ValueError` if a row and the header differ in length.
    """
    sides = ["left"] * text + ["right"] * (len(header) - text)
    columns = [Column(name=name, align=side) for name, side in zip(header, sides, strict=True)]
    return table_text(make_table(columns, rows))


def fill_terminal(text: str) -> str:
    """Break a paragraph into lines as wide as the terminal, at most 120 characters."""
    return textwrap.fill(" ".join(text.split()), min(shutil.get_terminal_size().columns, 120)) + "\n"


def without_common_parts(paths: Sequence[str]) -> list[str]:
    """Leave out what the names of files have in common: their first folders, and what follows after a last slash.

    `a/x/s1.txt` and `a/y/s1.txt` become `x` and `y`. Names that would be equal or empty stay as they are.
    """
    parts = [path.split("/") for path in paths]
    shortest = min(map(len, parts))
    start = next((i for i in range(shortest) if len({path_parts[i] for path_parts in parts}) > 1), 0)
    end = next((i for i in range(shortest - start) if len({path_parts[-1 - i] for path_parts in parts}) > 1), 0)
    shortened = ["/".join(path_parts[start : len(path_parts) - end]) for path_parts in parts]
    return shortened if all(shortened) and len(set(shortened)) == len(set(paths)) else list(paths)


def _lines(table: Table) -> list[str]:
    columns = []
    for column, cells in table.by_column:
        texts = [column.name, *(column.shown(cell) + cell.mark for cell in cells)]
        width = max(map(_width, texts))
        padded = [(text, " " * (width - _width(text))) for text in texts]
        columns.append([f"{text}{space}" if column.alignment == "left" else f"{space}{text}" for text, space in padded])
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]


def _width(cell: str) -> int:
    """Return the columns that a terminal needs: two for wide characters, none for combining ones."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in cell)
