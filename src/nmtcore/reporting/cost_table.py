"""What a plan takes, as lines for the terminal and as a table for a page."""

import re
from collections.abc import Callable
from pathlib import Path
from textwrap import fill

from nmtcore.config.planned_costs import Estimate, PlannedCost, PlannedCosts
from nmtcore.errors import UserError
from nmtcore.files import read_lines, write_text
from nmtcore.reporting.terminal_table import terminal_table

UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"))
"""Units of disk space, the largest first; less than one of the last is shown in it too."""

WIDTH = 120
"""Characters per line of Markdown."""


def cost_lines(costs: PlannedCosts, *, free: int | None = None) -> list[str]:
    """Return the table and the notes as lines for the terminal; none if nothing is left to do.

    The last one is a warning if the plan takes more disk space than `free` bytes.
    """
    if not costs.total.new and costs.total.disk_bytes == Estimate():
        return []
    table = terminal_table(_header(costs), [_cells(row) for row in (*costs.rows, costs.total)])
    is_short = free is not None and free < costs.total.disk_bytes.value
    warning = [f"Only {_size(free)} of disk space are free."] if is_short else []
    return [_SUMMARY, *table.splitlines(), *costs.notes, *warning]


def cost_markdown(costs: PlannedCosts) -> str:
    """Return the table as Markdown, and the notes as a list below it."""
    header = _header(costs)
    lines = [header, ["---", *["---:"] * (len(header) - 1)]]
    lines += [_cells(row) for row in costs.rows] + [[f"**{cell}**" for cell in _cells(costs.total)]]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    notes = "".join(f"{fill(f'- {sentence}', width=WIDTH, subsequent_indent='  ')}\n" for sentence in costs.notes)
    return f"{table}\n{notes}"


def update_cost_table(path: Path, costs: PlannedCosts) -> None:
    """Replace the marked table of a Markdown file. Raises `UserError` if it has no marks."""
    text = "".join(f"{line}\n" for line in read_lines(path))
    if not _MARKED.search(text):
        raise UserError(f"{path} has no place for the table: put <!-- costs --> and <!-- end --> there, a line each.")
    content = cost_markdown(costs)
    write_text(path, _MARKED.sub(lambda match: f"{match[1]}\n{content}\n{match[2]}", text))


_MARKED = re.compile(r"(<!-- costs -->\n).*?(<!-- end -->)", re.DOTALL)
_SUMMARY = "What this plan takes, as estimated; each run and each file counts in the first row that needs it:"


def _header(costs: PlannedCosts) -> list[str]:
    return ["table", "runs", "finished", "above", "new", "updates", costs.hours, "annotation core-hours", "disk"]


def _cells(row: PlannedCost) -> list[str]:
    counts = [row.runs, row.finished, row.counted, row.new]
    hours = [_estimate(hours, _number) for hours in (row.training_hours, row.annotation_hours)]
    updates, disk = _estimate(row.updates, _number), _estimate(row.disk_bytes, _size)
    return [row.name, *map(_number, counts), updates, *hours, disk]


def _estimate(estimate: Estimate, shown: Callable[[float], str]) -> str:
    """Show an estimate: its known part, and a question mark for what is unknown."""
    if estimate.unknown and not estimate.value:
        return "unknown"
    return f"{'<= ' if estimate.at_most else ''}{shown(estimate.value)}{' + ?' if estimate.unknown else ''}"


def _number(value: float) -> str:
    """Show a number with at least two significant digits; whole numbers and large ones without decimals."""
    digits = 0 if value == int(value) or value >= 10 else 1 if value >= 1 else 2
    return f"{value:,.{digits}f}"


def _size(size: float) -> str:
    if not size:
        return "0"
    unit, name = next(((unit, name) for unit, name in UNITS if size >= unit), UNITS[-1])
    return f"{_number(size / unit)} {name}"
