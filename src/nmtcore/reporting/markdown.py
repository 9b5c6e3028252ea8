"""Formatting of Markdown tables and their cells."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_SIGNS = re.compile(r"[\\`*_\[\]<>&~$]")
"""Characters with a meaning within a line of Markdown; the bar of tables is escaped in their cells."""


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[Any]], *, text: int = 1) -> str:
    """Format a table whose first `text` columns are text and whose other columns are numbers; None is an empty cell.

    Integers get commas; other numbers keep their digits. Raises ValueError if a row and the header differ in length.
    """
    if any(len(row) != len(header) for row in rows):
        raise ValueError(f"a row does not have the {len(header)} cells of the header")
    marks = ["---"] * text + ["---:"] * (len(header) - text)
    return "\n".join(["| " + " | ".join(map(_cell, row)) + " |" for row in (header, marks, *rows)]) + "\n"


def percent(part: float | None, whole: float | None) -> str | None:
    """Format `part / whole` as a percentage with two decimals; None if it is undefined."""
    return None if part is None or not whole else f"{100 * part / whole:.2f}"


def counts(values: Mapping[str, int]) -> str:
    """Format counts as one cell: `reason (3), other (1)`; zeros are omitted."""
    return ", ".join(f"{name} ({count:,})" for name, count in values.items() if count)


def escape_markdown(text: str) -> str:
    """Escape text from a corpus for a cell of a table, so that it is shown as it is; line breaks become spaces."""
    return _SIGNS.sub(r"\\\g<0>", " ".join(text.splitlines()))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")
