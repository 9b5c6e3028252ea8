"""What a page says about systems that a figure lacks."""

from collections.abc import Callable

from nmtcore.config.planned_tables import PlannedCell, PlannedTable
from nmtcore.reporting.table import Block, Items


def missing_runs(table: PlannedTable, lacks: Callable[[PlannedCell], str]) -> list[str]:
    """List, as sentences, the systems that are missing and why: the cell's reason, or what `lacks` says of its runs."""
    sentences = {}
    for cell in table.cells:
        if reason := cell.reason or (lacks(cell) if cell.runs else f"{cell.system} is no system"):
            sentences[f"{cell.system} is missing: {reason}."] = None
    return list(sentences)


def missing_items(sentences: list[str]) -> list[Block]:
    """Show the result of `missing_runs`, if there is any."""
    return [Items(tuple(sentences))] if sentences else []
