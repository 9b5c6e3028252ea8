"""Tests on which the gates or the attention of a table's runs are measured."""

from collections.abc import Iterator
from typing import NamedTuple

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.layout import Layout


class MeasuredTest(NamedTuple):
    """A test of some runs."""

    runs: str
    """A key of `PlannedTable.runs`."""
    split: str
    run: RunSettings
    """The settings of the first seed."""


def measured_tests(project: Project, table: PlannedTable) -> Iterator[MeasuredTest]:
    """Yield the test of each cell that has runs, each once; of a cell without a split, the main test.

    External systems, which have no model, are left out, as are splits that are not translated.
    """
    known = set()
    for cell in table.cells:
        if cell.runs is None or cell.reason or not table.runs[cell.runs].seeds:
            continue
        runs = table.runs[cell.runs]
        split = cell.split or project.dataset(runs.dataset).main_test
        run = project.run(runs.dataset, runs.system, table.scale, runs.seeds[0])
        if run.external is None and split in run.tests and (cell.runs, split) not in known:
            known.add((cell.runs, split))
            yield MeasuredTest(cell.runs, split, run)


def measured_files(
    layout: Layout, table: PlannedTable, file_type: str, test: MeasuredTest, *, first_seed: bool = False
) -> list[str]:
    """List the file of each seed, or of the first one, for a test of some runs."""
    runs = table.runs[test.runs]
    names = {"scale": table.scale, "dataset": runs.dataset, "system": runs.system, "split": test.split}
    return [layout.path(file_type, **names, seed=seed) for seed in (runs.seeds[:1] if first_seed else runs.seeds)]
