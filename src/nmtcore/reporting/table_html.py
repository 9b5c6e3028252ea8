"""Tables as static HTML: no script, nothing that is loaded from elsewhere."""

from collections.abc import Callable, Iterable
from html import escape

from nmtcore.reporting.html_document import html_document, scrolling
from nmtcore.reporting.table import Block, Column, Heading, Items, Page, Paragraph, Table, TableCell

Link = Callable[[str], str | None]
"""Returns the target of a link for the `origin` of a cell; None: no link."""


def page_html(page: Page) -> str:
    """Format a page; all text is escaped."""
    return html_document(page.title, blocks_html(page.blocks))


def blocks_html(blocks: Iterable[Block], *, level: int = 2, link: Link | None = None) -> str:
    """Format parts of a page; `level` is that of their headings, and `link` returns the target of a cell's link."""
    return "".join(_block(block, level, link) for block in blocks)


def _block(block: Block, level: int, link: Link | None) -> str:
    match block:
        case Heading():
            return f"<h{level}>{own_html(block.text)}</h{level}>\n"
        case Paragraph():
            return f"<p>{own_html(block.text)}{escape(block.corpus)}</p>\n"
        case Items():
            return "<ul>\n" + "".join(f"<li>{own_html(text)}</li>\n" for text in block.texts) + "</ul>\n"
        case Table():
            return _table(block, link)


def _table(table: Table, link: Link | None) -> str:
    reasons = table.reasons
    header = "".join(f"<th{_class(column)}>{own_html(column.name)}</th>" for column in table.columns)
    lines = ["<table>", f"<thead>\n<tr>{header}</tr>\n</thead>"]
    for group in table.groups:
        lines.append("<tbody>")
        for row in group:
            cells = zip(table.columns, row, strict=True)
            lines.append("<tr>" + "".join(_cell(column, cell, reasons, link) for column, cell in cells) + "</tr>")
        lines.append("</tbody>")
    lines.append("</table>\n")
    notes = "".join(
        f'<p class="reason"><sup>{letter}</sup> {own_html(reason)}</p>\n' for reason, letter in reasons.items()
    )
    return scrolling("\n".join(lines), "table") + notes


def _class(column: Column) -> str:
    return ' class="right"' if column.alignment == "right" else ""


def _cell(column: Column, cell: TableCell, reasons: dict[str, str], link: Link | None) -> str:
    text = column.shown(cell)
    text = own_html(text) if column.content == "text" else escape(text)
    if column.content == "code" and text:
        text = f"<code>{text}</code>"
    text += escape(cell.mark)
    target = link(cell.origin) if link and cell.origin and text else None
    if target is not None:
        text = f'<a href="{escape(target)}">{text}</a>'
    # A duration as text cannot be sorted.
    key = f' data-value="{cell.value}"' if column.content == "duration" and cell.value is not None else ""
    if cell.reason:
        key += f' title="{escape(cell.reason)}"'
        text += f"<sup>{reasons[cell.reason]}</sup>"
    return f"<td{_class(column)}{key}>{text}</td>"


def own_html(text: str) -> str:
    """Escape our own text, with code in backticks."""
    parts = escape(text).split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return "".join(f"<code>{part}</code>" if position % 2 else part for position, part in enumerate(parts))
