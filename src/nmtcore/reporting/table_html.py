"""Tables as one static page of HTML: no script, nothing that is loaded from elsewhere."""

from html import escape

from nmtcore.reporting.html_document import html_document, scrolling
from nmtcore.reporting.table import Block, Column, Heading, Items, Page, Paragraph, Table, TableCell


def page_html(page: Page) -> str:
    """Format a page; all text is escaped."""
    return html_document(page.title, "".join(map(_block, page.blocks)))


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"<h2>{_own(block.text)}</h2>\n"
        case Paragraph():
            return f"<p>{_own(block.text)}{escape(block.corpus)}</p>\n"
        case Items():
            return "<ul>\n" + "".join(f"<li>{_own(text)}</li>\n" for text in block.texts) + "</ul>\n"
        case Table():
            return _table(block)


def _table(table: Table) -> str:
    reasons = table.reasons
    header = "".join(f"<th{_class(column)}>{_own(column.name)}</th>" for column in table.columns)
    lines = ["<table>", f"<thead>\n<tr>{header}</tr>\n</thead>"]
    for group in table.groups:
        lines.append("<tbody>")
        for row in group:
            cells = zip(table.columns, row, strict=True)
            lines.append("<tr>" + "".join(_cell(column, cell, reasons) for column, cell in cells) + "</tr>")
        lines.append("</tbody>")
    lines.append("</table>\n")
    notes = "".join(f"<p><sup>{letter}</sup> {_own(reason)}</p>\n" for reason, letter in reasons.items())
    return scrolling("\n".join(lines), "table") + notes


def _class(column: Column) -> str:
    return ' class="right"' if column.alignment == "right" else ""


def _cell(column: Column, cell: TableCell, reasons: dict[str, str]) -> str:
    if cell.reason:
        return f'<td{_class(column)} title="{escape(cell.reason)}"><sup>{reasons[cell.reason]}</sup></td>'
    text = column.shown(cell)
    text = _own(text) if column.content == "text" else escape(text)
    if column.content == "code" and text:
        text = f"<code>{text}</code>"
    return f"<td{_class(column)}>{text}{escape(cell.mark)}</td>"


def _own(text: str) -> str:
    """Escape our own text, with code in backticks."""
    parts = escape(text).split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return "".join(f"<code>{part}</code>" if position % 2 else part for position, part in enumerate(parts))
