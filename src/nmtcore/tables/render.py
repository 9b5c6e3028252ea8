"""Pages for people: what all formats have in common, Markdown, and fragments of HTML.

Rows that were not run are counted below a table, and the CSV has their reasons; those without any number are left out.
While a table is `printing`, labels stand in place of names; CSV and frames keep the names.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from html import escape
from itertools import groupby

from nmtcore.tables.blocks import TEXTS, Block, Column, Heading, Items, Page, Paragraph, Row, Table, TableCell
from nmtcore.tables.cells import PlannedTable
from nmtcore.tables.measures import measure_label

MOST_REASONS = 3
"""Reasons for empty cells up to which they are listed below a table."""

MOST_COLUMNS = 6
"""Columns beside the first of one part of a wide table, unless more have the same heading above them."""

MISSING = "–"
"""What stands in a cell that is empty for a reason."""

Link = Callable[[str], str | None]
"""Returns the target of a link for the `origin` of a cell; None: no link."""

Form = Callable[[str], str]
"""Writes a text."""


_LABELS: ContextVar[Mapping[str, str] | None] = ContextVar("labels", default=None)


@contextmanager
def printing(table: PlannedTable) -> Iterator[None]:
    """Print the labels of a table in place of names, in what is written meanwhile."""
    labels = dict(table.labels)
    for column in table.columns if labels else ():
        test = f"{column.dataset}/{column.split}"
        label = labels.get(test) or f"{labels.get(column.dataset or '', column.dataset)} {column.split}"
        if label != test.replace("/", " "):
            labels |= {test.replace("/", " "): label, column.column: f"{label}, {measure_label(column.measure)}"}
    token = _LABELS.set(labels)
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


class Writer:
    """What all formats for people have in common; each says how texts are escaped and what is around them."""

    text: Form
    """Escapes our own text, outside of code in backticks."""
    corpus: Form
    """Escapes text of a corpus."""
    code: Form
    number: Form
    heading: Form
    paragraph: Form
    item: Form
    items: Form
    note: Form
    """Writes a sentence below a table."""
    separator = ""
    """What stands between the parts of a page, and between a table and its notes."""

    def grid(self, table: Table) -> str:
        """Write a table without what stands below it."""
        raise NotImplementedError

    def write(self, blocks: Iterable[Block]) -> str:
        """Write parts of a page."""
        return self.separator.join(map(self.block, blocks))

    def block(self, block: Block) -> str:
        """Write a part of a page."""
        match block:
            case Heading():
                return self.heading(self.our_text(block.whole))
            case Paragraph():
                return self.paragraph(self.our_text(block.text) + self.corpus(block.corpus))
            case Items():
                return self.items("".join(self.item(self.line(text)) for text in block.texts))
            case Table():
                return self.table(block)

    def table(self, whole: Table) -> str:
        """Write what people see of a table, and notes below."""
        table = whole.for_readers()
        grids = map(self.grid, column_parts(table)) if table.groups or not any(whole.rows) else ()
        notes = map(self.line, notes_below(whole, table))
        return self.separator.join([*grids, *map(self.note, notes)])

    def our_text(self, text: str) -> str:
        """Write our own text, with labels in place of names, and code in backticks."""
        text = printed(text)
        parts = text.split("`")
        if len(parts) % 2 == 0:
            return self.text(text)
        return "".join(self.code(part) if position % 2 else self.text(part) for position, part in enumerate(parts))

    def line(self, text: str) -> str:
        """Write our own text in one line."""
        return self.our_text(" ".join(text.splitlines()))

    def value(self, column: Column, cell: TableCell) -> str:
        """Write the value of a cell, without its mark."""
        if cell.value is None:
            return self.text(MISSING) if cell.reason else ""
        forms = {"text": self.our_text, "corpus": self.corpus, "code": self.code}
        return forms.get(column.content, self.number)(column.shown(cell))


def notes_below(whole: Table, table: Table) -> Iterator[str]:
    """Yield sentences below a table, given whole and as it is shown: what is missing, and its own notes."""
    rows, missing = sum(1 for _ in whole.rows), len(whole.not_run)
    if missing:
        reasons = {cell.reason for row in whole.not_run for cell in row if cell.reason and cell.value is None}
        why = f": {reasons.pop()}" if missing == rows and len(reasons) == 1 else "; the CSV says why"
        line = f"Not run: {'all' if missing == rows else f'{missing} of'} {rows} rows{why}."
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

    Columns with the same heading above them stay together. A table without such headings is not divided, since its
    first column alone may not name the rows.
    """
    if not any(column.group for column in table.columns):
        return [table]
    parts: list[list[int]] = [[]]
    for _, same in groupby(
        range(1, len(table.columns)), key=lambda position: table.columns[position].group or position
    ):
        positions = list(same)
        if parts[-1] and len(parts[-1]) + len(positions) > most:
            parts.append([])
        parts[-1] += positions
    if len(parts) == 1:
        return [table]
    divided = (
        table.part([0, *positions], lambda row, positions=positions: any(row[i].value is not None for i in positions))
        for positions in parts
    )
    return [part for part in divided if part.groups] or [table]


def _aligned_parts(column: Column, cell: TableCell) -> tuple[str, str]:
    """Divide a cell as it is shown: a number, whose decimals are aligned, and what follows, a deviation and a mark.

    Nothing follows a text.
    """
    if column.content in TEXTS:
        return column.shown(cell), ""
    number, sign, deviation = column.shown(cell).partition(" ± ")
    return number, f"{sign}{deviation}{cell.mark}"


_SIGNS = re.compile(r"[\\`*_\[\]<>&~$]")
"""Characters with a meaning within a line of Markdown; the bar of tables is escaped in their cells."""
_SIGNS_OF_OWN = re.compile(r"[\\`*\[~$]|(?<![^\W_])_|_(?![^\W_])|<(?=[\w/!?])|&(?=#?\w+;)")
"""Those of our own text, only where they have one, so that `p < 0.05` and `transformer_base` stay readable."""


def escape_markdown(text: str) -> str:
    """Escape text from a corpus so that it is shown as it is; line breaks become spaces."""
    return _SIGNS.sub(r"\\\g<0>", " ".join(text.splitlines()))


class _Markdown(Writer):
    """Markdown as GitHub shows it."""

    text = staticmethod(partial(_SIGNS_OF_OWN.sub, r"\\\g<0>"))
    corpus, code, number = staticmethod(escape_markdown), "`{}`".format, str
    heading, paragraph, item, items = "## {}\n".format, "{}\n".format, "- {}\n".format, str
    note, separator = "{}\n".format, "\n"

    def grid(self, table: Table) -> str:
        """Write a table; marks have a column of their own, so that decimals are aligned."""
        columns: list[list[str]] = []
        for column, cells in table.by_column:
            name = "<br>".join(map(self.our_text, filter(None, (column.group, column.name))))
            texts = [self.value(column, cell) for cell in cells]
            columns.append([name, "---" if column.alignment == "left" else "---:", *texts])
            if any(cell.mark for cell in cells):
                columns.append(["", "---", *(cell.mark.strip() for cell in cells)])
        return "".join(f"| {' | '.join(map(_bar, line))} |\n" for line in zip(*columns, strict=True))


def _bar(text: str) -> str:
    """Escape bars, and turn line breaks into spaces."""
    return text.replace("|", "\\|").replace("\n", " ")


def page_markdown(page: Page) -> str:
    """Write a page as Markdown, without its title."""
    return _Markdown().write(page.blocks)


class _Html(Writer):
    """HTML; the page around it has the style."""

    text = corpus = staticmethod(escape)
    code = staticmethod(lambda text: f"<code>{escape(text)}</code>")
    number = staticmethod(lambda text: escape(text).replace("-", "−"))
    paragraph, item, items = "<p>{}</p>\n".format, "<li>{}</li>\n".format, "<ul>\n{}</ul>\n".format
    note = '<p class="reason">{}</p>\n'.format

    def __init__(self, level: int, link: Link | None):
        self.heading = f"<h{level}>{{}}</h{level}>\n".format
        self.link = link

    def grid(self, table: Table) -> str:
        """Write a table that scrolls where the screen is narrower."""
        tails = [max((len(_aligned_parts(column, cell)[1]) for cell in cells), default=0)
                 for column, cells in table.by_column]  # fmt: skip
        lines = ["<table>", f"<thead>\n{self._header(table)}</thead>"]
        for group in table.groups:
            rows = (self._row(table.columns, row, tails) for row in group)
            lines += ["<tbody>", *rows, "</tbody>"]
        return scrolling("\n".join([*lines, "</table>\n"]), "table")

    def _row(self, columns: Sequence[Column], row: Row, tails: Sequence[int]) -> str:
        cells, linked = [], ""
        for column, cell, tail in zip(columns, row, tails, strict=True):
            text = self._text(column, cell, tail)
            if cell.origin and cell.value is not None:
                # A row has one link to the same place, since most of its numbers come from there.
                target = self.link(cell.origin) if self.link and cell.origin != linked else None
                text = text if target is None else f'<a href="{escape(target)}">{text}</a>'
                linked = cell.origin
            # A duration as text cannot be sorted.
            seconds = cell.value if column.content == "duration" else None
            more = "" if seconds is None else f' data-value="{seconds}"'
            more += f' title="{escape(printed(cell.reason))}"' if cell.reason else ""
            cells.append(f"<td{_side(column)}{more}>{text}</td>")
        return f"<tr>{''.join(cells)}</tr>"

    def _header(self, table: Table) -> str:
        """Write the names of columns; if some have a heading above them, in two lines."""
        groups, columns = header_groups(table), iter(table.columns)
        upper, lower = [], []
        rows = ' rowspan="2"' if any(name for name, _ in groups) else ""
        for name, width in groups:
            line = lower if name else upper
            if name:
                upper.append(f'<th class="group" colspan="{width}">{self.our_text(name)}</th>')
            for _ in range(width):
                column = next(columns)
                line.append(f"<th{_side(column)}{'' if name else rows}>{self.our_text(column.name)}</th>")
        return "".join(f"<tr>{''.join(line)}</tr>\n" for line in (upper, lower) if line)

    def _text(self, column: Column, cell: TableCell, tail: int) -> str:
        """Write what stands in a cell; what follows numbers is equally wide in all, so that decimals are aligned."""
        if column.content in TEXTS:
            return self.value(column, cell) + escape(cell.mark)
        number, more = _aligned_parts(column, cell)
        text = self.number(number) or self.value(column, cell)
        return f'{text}<span class="tail" style="width:{tail}ch">{escape(more)}</span>' if tail and text else text


def _side(column: Column) -> str:
    return ' class="right"' if column.alignment == "right" else ""


def scrolling(content: str, label: str, *, name: str = "") -> str:
    """Put HTML into a box that scrolls by mouse and keyboard where the screen is narrower.

    `label` says what is in it to those who cannot see it; `name` is a class that the box has besides `scroll`.
    """
    classes = f"scroll {name}".strip()
    return f'<div class="{classes}" tabindex="0" role="group" aria-label="{escape(label)}">\n{content}</div>\n'


def blocks_html(blocks: Iterable[Block], *, level: int = 2, link: Link | None = None) -> str:
    """Write parts of a page as HTML, with all text escaped.

    `level` is that of their headings, and `link` returns the target of a cell's link.
    """
    return _Html(level, link).write(blocks)
