"""Tables as Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[Any]], *, text: int = 1) -> str:
    """Write a table whose first `text` columns are text and whose others are numbers; None is an empty cell.

    Whole numbers have commas; other numbers keep the digits that they are given with. A row of another length than
    the header is a `ValueError`.
    """
    if any(len(row) != len(header) for row in rows):
        raise ValueError(f"a row has not the {len(header)} cells of the header")
    marks = ["---"] * text + ["---:"] * (len(header) - text)
    return "\n".join(["| " + " | ".join(map(_cell, row)) + " |" for row in (header, marks, *rows)]) + "\n"


def percent(part: float | None, whole: float | None) -> str | None:
    """Write a share as a percentage with two decimals; None where there is nothing to divide."""
    return None if part is None or not whole else f"{100 * part / whole:.2f}"


def counts(values: Mapping[str, int]) -> str:
    """Write counts in one cell: `reason (3), other (1)`; zeros are left out."""
    return ", ".join(f"{name} ({count:,})" for name, count in values.items() if count)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")
