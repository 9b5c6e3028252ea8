"""What an author prints in place of names: in Markdown, LaTeX, HTML and figures; CSV and frames keep the names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from nmtcore.tables.blocks import Block, Column, Heading, Items, Page, Paragraph, Row, Table
from nmtcore.tables.cells import PlannedTable
from nmtcore.tables.measures import measure_label

_LABELS: ContextVar[Mapping[str, str] | None] = ContextVar("labels", default=None)


@contextmanager
def printing(table: PlannedTable) -> Iterator[None]:
    """Let `printed` print the labels of a table."""
    token = _LABELS.set(_labels(table))
    try:
        yield
    finally:
        _LABELS.reset(token)


def printed(text: str) -> str:
    """Print labels in place of the names in a text of our own; within paths and longer names, names stay."""
    labels = _LABELS.get()
    if not labels:
        return text
    names = "|".join(re.escape(name) for name in sorted(labels, key=len, reverse=True))
    return re.sub(rf"(?<![\w./=-])(?:{names})(?![\w/=-])", lambda match: labels[match[0]], text)


def printed_page(page: Page) -> Page:
    """Print labels in place of the names on a page."""
    return replace(page, blocks=tuple(map(printed_block, page.blocks)))


def printed_block(block: Block) -> Block:
    """Print labels in place of the names in a part of a page; text of a corpus stays as it is."""
    match block:
        case Heading() | Paragraph():
            return replace(block, text=printed(block.text))
        case Items():
            return Items(tuple(map(printed, block.texts)))
        case Table():
            columns = (
                replace(column, name=printed(column.name), group=printed(column.group)) for column in block.columns
            )
            return replace(
                block,
                columns=tuple(columns),
                groups=tuple(tuple(_printed_row(row, block.columns) for row in rows) for rows in block.groups),
                caption=printed(block.caption),
                notes=tuple(map(printed, block.notes)),
            )


def _printed_row(row: Row, columns: Sequence[Column]) -> Row:
    cells = (cell._replace(reason=printed(cell.reason)) for cell in row)
    return tuple(
        cell._replace(value=printed(cell.value)) if column.content == "text" and isinstance(cell.value, str) else cell
        for column, cell in zip(columns, cells, strict=True)
    )


def _labels(table: PlannedTable) -> dict[str, str]:
    """Return the labels by what they replace: also those of columns and of tests as their headings name them."""
    labels = dict(table.labels)
    for column in table.columns if labels else ():
        test = f"{column.dataset}/{column.split}"
        label = labels.get(test) or f"{labels.get(column.dataset or '', column.dataset)} {column.split}"
        if label != test.replace("/", " "):
            labels |= {test.replace("/", " "): label, column.column: f"{label}, {measure_label(column.measure)}"}
    return labels
