"""Pages with labels in place of names (`nmtcore.tables.labels`), for all formats but CSV."""

from collections.abc import Sequence
from dataclasses import replace

from nmtcore.reporting.table import Block, Column, Heading, Items, Page, Paragraph, Row, Table
from nmtcore.tables.labels import printed


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
