"""Tables for the terminal, and what stands in their cells."""

import shutil
import textwrap
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    from nmtcore.evaluation.compare import Difference


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


def fitting_table(header: Sequence[str], rows: Sequence[Sequence[str | None]], *, dispensable: Sequence[int]) -> str:
    """Format a table like `terminal_table`, without the dispensable columns, in their order, if it is too wide."""
    left_out: set[int] = set()
    for column in (None, *dispensable):
        left_out.add(-1 if column is None else column)
        kept = [[cell for i, cell in enumerate(row) if i not in left_out] for row in (header, *rows)]
        text = terminal_table(kept[0], kept[1:])
        if max(map(_width, text.splitlines())) <= shutil.get_terminal_size().columns:
            break
    return text


def fill_terminal(text: str) -> str:
    """Break a paragraph into lines as wide as the terminal, at most 120 characters."""
    return textwrap.fill(" ".join(text.split()), min(shutil.get_terminal_size().columns, 120)) + "\n"


def without_common_parts(paths: Sequence[str]) -> list[str]:
    """Leave out what the names of files have in common: their first folders, and what follows after a last slash.

    `a/x/s1.txt` and `a/y/s1.txt` become `x` and `y`. Names that would be equal or empty stay as they are.
    """
    parts = [path.split("/") for path in paths]
    shortest = min(map(len, parts))
    start = next((i for i in range(shortest) if len({own[i] for own in parts}) > 1), 0)
    end = next((i for i in range(shortest - start) if len({own[-1 - i] for own in parts}) > 1), 0)
    shortened = ["/".join(own[start : len(own) - end]) for own in parts]
    return shortened if all(shortened) and len(set(shortened)) == len(set(paths)) else list(paths)


def spread_text(values: Sequence[float], digits: int = 1) -> str:
    """Format the mean of the values of seeds, and their standard deviation if there are several."""
    deviation = f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{fmean(values):.{digits}f}{deviation}"


def difference_text(difference: "Difference | None", digits: int = 1) -> str | None:
    """Format a difference and half of its interval; None: there is none."""
    if difference is None:
        return None
    low, high = difference.interval
    return f"{difference.delta:+.{digits}f} ± {(high - low) / 2:.{digits}f}"


def _padded(cell: str, width: int, *, left: bool) -> str:
    space = " " * (width - _width(cell))
    return cell + space if left else space + cell


def _width(cell: str) -> int:
    """Return the columns that a terminal needs: two for wide characters, none for combining ones."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in cell)
