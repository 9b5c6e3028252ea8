"""Parts of pages as HTML, for the report."""

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from nmtcore.reporting.blocks import (
    Format,
    aligned_parts,
    column_parts,
    header_groups,
    is_grouped,
    notes_below,
    rendered,
)
from nmtcore.reporting.html_document import scrolling
from nmtcore.reporting.table import TEXTS, Block, Column, Table, TableCell

Link = Callable[[str], str | None]
"""Returns the target of a link for the `origin` of a cell; None: no link."""


def blocks_html(blocks: Iterable[Block], *, level: int = 2, link: Link | None = None) -> str:
    """Format parts of a page, with all text escaped.

    `level` is that of their headings, and `link` returns the target of a cell's link.
    """
    return rendered(blocks, _HTML, level=level, link=link)


def _own(text: str) -> str:
    """Format our own text, with code in backticks."""
    return _HTML.marked(text)


def _table(whole: Table, form: Format, options: Mapping[str, Any]) -> str:
    table = whole.for_readers()
    reasons = table.letters
    shown = column_parts(table) if is_grouped(table) else [table]
    parts = [_grid(part, reasons, options.get("link")) for part in shown] if table.groups or not any(whole.rows) else []
    notes = [f"<sup>{letter}</sup> {_own(reason)}" for reason, letter in reasons.items()]
    notes += map(_own, notes_below(whole, table))
    return "".join([*parts, *(f'<p class="reason">{note}</p>\n' for note in notes)])


def _grid(table: Table, reasons: Mapping[str, str], link: Link | None) -> str:
    lines = ["<table>", f"<thead>\n{_header(table)}</thead>"]
    tails = [
        max((len(aligned_parts(c, row[i])[1]) for row in table.rows), default=0) for i, c in enumerate(table.columns)
    ]
    for group in table.groups:
        lines.append("<tbody>")
        for row in group:
            cells, linked = [], ""
            for column, cell, tail in zip(table.columns, row, tails, strict=True):
                # A row has one link to the same place, since most of its numbers come from there.
                cells.append(_cell(column, cell, tail, reasons, link if cell.origin != linked else None))
                linked = cell.origin if cell.origin and cell.value is not None else linked
            lines.append(f"<tr>{''.join(cells)}</tr>")
        lines.append("</tbody>")
    return scrolling("\n".join([*lines, "</table>\n"]), "table")


def _header(table: Table) -> str:
    """Write the names of columns; if some have a heading above them, in two lines."""
    groups, columns = header_groups(table), iter(table.columns)
    upper, lower = [], []
    rows = ' rowspan="2"' if any(name for name, _ in groups) else ""
    for name, width in groups:
        names = [(next(columns)) for _ in range(width)]
        if name:
            upper.append(f'<th class="group" colspan="{width}">{_own(name)}</th>')
            lower += [f"<th{_side(column)}>{_own(column.name)}</th>" for column in names]
        else:
            upper += [f"<th{_side(column)}{rows}>{_own(column.name)}</th>" for column in names]
    return "".join(f"<tr>{''.join(line)}</tr>\n" for line in (upper, lower) if line)


def _side(column: Column) -> str:
    return ' class="right"' if column.alignment == "right" else ""


def _cell(column: Column, cell: TableCell, tail: int, reasons: Mapping[str, str], link: Link | None) -> str:
    text = _HTML.value(column, cell)
    if column.content in TEXTS:
        text += escape(cell.mark)
    elif tail and text:
        # What follows numbers is equally wide in all cells, so that the decimals are aligned.
        number, more = aligned_parts(column, cell) if cell.value is not None else (text, cell.mark)
        text = f'{_number(number)}<span class="tail" style="width:{tail}ch">{escape(more)}</span>'
    target = link(cell.origin) if link and cell.origin and cell.value is not None else None
    if target is not None:
        text = f'<a href="{escape(target)}">{text}</a>'
    # A duration as text cannot be sorted.
    more = f' data-value="{cell.value}"' if column.content == "duration" and cell.value is not None else ""
    more += f' title="{escape(cell.reason)}"' if cell.reason else ""
    letter = f"<sup>{reasons[cell.reason]}</sup>" if cell.reason in reasons and cell.value is not None else ""
    return f"<td{_side(column)}{more}>{text}{letter}</td>"


def _number(text: str) -> str:
    return escape(text).replace("-", "−")


_HTML = Format(
    own=escape, corpus=escape, number=_number, in_code=escape, code="<code>{}</code>",
    heading="<h{level}>{}</h{level}>\n", paragraph="<p>{}</p>\n", item="<li>{}</li>\n", items="<ul>\n{}</ul>\n",
    table=_table,
)  # fmt: skip
