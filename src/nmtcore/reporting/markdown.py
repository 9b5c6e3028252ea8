"""Pages as Markdown, whose title is left out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nmtcore.reporting.blocks import Format, column_parts, is_grouped, notes_below, rendered
from nmtcore.reporting.table import Page, Table

_SIGNS = re.compile(r"[\\`*_\[\]<>&~$]")
"""Characters with a meaning within a line of Markdown; the bar of tables is escaped in their cells."""
_SIGNS_OF_OWN = re.compile(r"[\\`*\[~$]|(?<![^\W_])_|_(?![^\W_])|<(?=[\w/!?])|&(?=#?\w+;)")
"""Those of our own text, only where they have one, so that `p < 0.05` and `transformer_base` stay readable."""


def page_markdown(page: Page) -> str:
    """Format a page."""
    return rendered(page.blocks, _MARKDOWN, "\n")


def counts(values: Mapping[str, int]) -> str:
    """Format counts as one cell: `reason (3), other (1)`; zeros are omitted."""
    return ", ".join(f"{name} ({count:,})" for name, count in values.items() if count)


def escape_markdown(text: str) -> str:
    """Escape text from a corpus so that it is shown as it is; line breaks become spaces."""
    return _SIGNS.sub(r"\\\g<0>", " ".join(text.splitlines()))


def _own(text: str) -> str:
    """Escape our own text, which may hold what users write in their files."""
    return _SIGNS_OF_OWN.sub(r"\\\g<0>", text)


def _table(whole: Table, form: Format, options: Mapping[str, Any]) -> str:
    table = whole.for_readers()
    reasons = table.letters
    shown = column_parts(table) if is_grouped(table) else [table]
    parts = [_grid(part, form, reasons) for part in shown] if table.groups or not any(whole.rows) else []
    parts += [f"[{letter}] {_line(reason)}\n" for reason, letter in reasons.items()]
    return "\n".join([*parts, *(f"{_line(note)}\n" for note in notes_below(whole, table))])


def _grid(table: Table, form: Format, reasons: Mapping[str, str]) -> str:
    # Marks have a column of their own, so that decimals are aligned.
    marked = [any(row[position].mark for row in table.rows) for position in range(len(table.columns))]
    names = ["<br>".join(form.marked(name) for name in (c.group, c.name) if name) for c in table.columns]
    rules = ["---" if column.alignment == "left" else "---:" for column in table.columns]
    lines = [_with_marks(map(_bar, names), marked, [""] * len(names)), _with_marks(rules, marked, ["---"] * len(names))]
    for row in table.rows:
        texts = []
        for column, cell in zip(table.columns, row, strict=True):
            letter = f"[{reasons[cell.reason]}]" if cell.reason in reasons and cell.value is not None else ""
            texts.append(_bar(" ".join(filter(None, (form.value(column, cell), letter)))))
        lines.append(_with_marks(texts, marked, [_bar(cell.mark.strip()) for cell in row]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _with_marks(texts: Iterable[str], marked: Sequence[bool], marks: Sequence[str]) -> list[str]:
    """Insert marks after the texts of columns that have some."""
    columns = zip(texts, marked, marks, strict=True)
    return [own for text, has_marks, mark in columns for own in ([text, mark] if has_marks else [text])]


def _bar(text: str) -> str:
    """Escape bars, and turn line breaks into spaces."""
    return text.replace("|", "\\|").replace("\n", " ")


def _line(text: str) -> str:
    """Format our own text in one line."""
    return _MARKDOWN.marked(" ".join(text.splitlines()))


_MARKDOWN = Format(
    own=_own, corpus=escape_markdown, number=str, in_code=str, code="`{}`", heading="## {}\n", paragraph="{}\n",
    item="- {}\n", items="{}", table=_table,
)  # fmt: skip
