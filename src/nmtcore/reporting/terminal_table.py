"""Tables for the terminal."""

from collections.abc import Sequence
from unicodedata import combining, east_asian_width


def terminal_table(header: Sequence[str], rows: Sequence[Sequence[str | None]], *, text: int = 1) -> str:
    """Format a table whose first `text` columns are aligned left and whose others are aligned right.

    None is an empty cell. Raises `ValueError` if a row and the header differ in length.
    """
    cells = [[cell or "" for cell in row] for row in (header, *rows)]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(_padded(cell, width, left=i < text) for i, (cell, width) in enumerate(zip(row, widths, strict=True)))
        for row in cells
    ]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _padded(cell: str, width: int, *, left: bool) -> str:
    space = " " * (width - _width(cell))
    return cell + space if left else space + cell


def _width(cell: str) -> int:
    """Return the columns that a terminal needs: two for wide characters, none for combining ones."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in cell)
