"""What a page says about systems and seeds that a figure lacks."""

from collections.abc import Callable

from nmtcore.config.planned_tables import PlannedCell, PlannedTable
from nmtcore.reporting.seed_items import run_items
from nmtcore.reporting.table import Block, Items


def missing_runs(table: PlannedTable, lacks: Callable[[PlannedCell], str]) -> list[str]:
    """List, as sentences, systems that are missing and why, and unfinished seeds.

    `lacks` says what the runs of a cell lack; it returns an empty text if they lack nothing.
    """
    sentences = {}
    for cell in table.cells:
        if reason := cell.reason or (lacks(cell) if cell.runs else f"{cell.system} is no system"):
            sentences[f"{cell.system} is missing: {reason}."] = None
    return [*sentences, *run_items(table)]


def missing_items(sentences: list[str]) -> list[Block]:
    """Show the result of `missing_runs`, if there is any."""
    return [Items(tuple(sentences))] if sentences else []
