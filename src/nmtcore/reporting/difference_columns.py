"""Columns and cells of the difference between a system and a baseline, the same in all tables."""

from nmtcore.evaluation.compare import Difference
from nmtcore.reporting.table import Column, Estimate, TableCell


def difference_columns(name: str = "difference") -> list[Column]:
    """Make columns for a difference and its interval."""
    return [
        Column(name=name, content="number", digits=2, signed=True),
        Column(name="95 % interval", content="interval", digits=2, signed=True),
    ]


def estimate_column(name: str = "difference") -> Column:
    """Make a column for a difference ± half its interval."""
    return Column(name=name, content="difference", digits=2, signed=True)


def estimate_cell(compared: Difference | None) -> TableCell:
    """Make a cell of `estimate_column`, which is empty if there is no difference."""
    return TableCell(None if compared is None else Estimate(compared.delta, *compared.interval))
