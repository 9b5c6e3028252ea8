"""Sentences below a table about its runs, and below a figure about those that it lacks."""

from collections.abc import Iterator

from nmtcore.evaluation.compare import ONE_SEED
from nmtcore.tables.cells import Cell, PlannedTable


def one_seed_sentence(names: str) -> str:
    """Say of systems with one seed what their intervals and p-values lack."""
    return f"One seed ({names}): an interval from one seed {ONE_SEED}. Neither it nor its p shows that systems differ."


def seed_items(table: PlannedTable) -> Iterator[str]:
    """Yield sentences about runs: those with one seed, those that are not finished, and those from elsewhere."""
    single = [runs for runs in table.runs.values() if len(runs.seeds) == 1]
    if single:
        names = "all" if len(single) == len(table.runs) else ", ".join(f"{r.system} on {r.dataset}" for r in single)
        yield one_seed_sentence(names)
    yield from run_items(table)


def run_items(table: PlannedTable) -> Iterator[str]:
    """Yield a sentence about each system that was not trained here, or of which some seeds are missing."""
    for runs in table.runs.values():
        if runs.unfinished and runs.seeds:
            seeds = ", ".join(map(str, runs.unfinished))
            left_out = f"seed {seeds}, whose run is" if len(runs.unfinished) == 1 else f"seeds {seeds}, whose runs are"
            yield f"{runs.system} on {runs.dataset}: without {left_out} not finished."
        if runs.missing and runs.seeds:
            seeds = ", ".join(map(str, runs.missing))
            without = f"seed {seeds}, which has" if len(runs.missing) == 1 else f"seeds {seeds}, which have"
            yield f"{runs.system} on {runs.dataset}: without {without} no translations."
        if runs.provenance:
            yield f"{runs.system} was not trained here; its translations: {runs.provenance}."


def measured_cells(table: PlannedTable) -> list[Cell]:
    """List the cells of a figure that are measured, each test of some runs once."""
    cells = {(cell.runs, cell.source.get("split")): cell for cell in reversed(table.cells) if cell.source}
    return list(cells.values())[::-1]


def missing_runs(table: PlannedTable) -> list[str]:
    """List, as sentences, systems that a figure lacks and why, and unfinished seeds."""
    missing = (f"{cell.system} is missing: {cell.reason}." for cell in table.cells if cell.reason)
    return list(dict.fromkeys([*missing, *run_items(table)]))
