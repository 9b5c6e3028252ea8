"""Columns and cells of the difference between a system and a baseline, the same in all tables."""

from nmtcore.evaluation.compare import Difference
from nmtcore.reporting.table import Column, Interval, TableCell, number_columns


def difference_columns(name: str = "difference") -> list[Column]:
    """Make columns for a difference and its interval."""
    return [
        Column(name=name, content="number", digits=2, signed=True),
        Column(name="95 % interval", content="interval", digits=2, signed=True),
    ]


def comparison_columns(name: str = "difference") -> list[Column]:
    """Make columns for a difference, its interval, and the smallest difference that would be detected."""
    return [*difference_columns(name), *number_columns("detectable", digits=2)]


def comparison_cells(compared: Difference | str) -> list[TableCell]:
    """Make the cells of `comparison_columns`; of a reason why there is no difference, cells that are empty."""
    if isinstance(compared, str):
        return [TableCell(None, reason=compared), TableCell(None), TableCell(None)]
    return [TableCell(value) for value in (compared.delta, Interval(*compared.interval), compared.detectable)]
