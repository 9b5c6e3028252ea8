"""The files of the runs and of the data set that a cell of a table is measured from."""

from typing import Any, NamedTuple

from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.tables.cells import Cell, PlannedRuns

Source = dict[str, Any]
"""What a cell is measured from, as plain values: `files`, by seed where they are those of runs, and more facts."""


class Unmeasurable(Exception):
    """The reason why nothing can be measured in a cell; empty if nobody expects a value there."""


class CellFiles(NamedTuple):
    """A cell, with the runs that it measures."""

    project: Project
    cell: Cell
    runs: PlannedRuns | None
    baseline: PlannedRuns | None = None
    """The runs of the table's first baseline for the same test, where the system is another."""
    configured: bool = False
    """Whether the table is no paper's, but one of the systems of config.yaml."""

    @property
    def run(self) -> RunSettings:
        """The settings of the first seed. Raises `Unmeasurable` if there are no runs."""
        if self.runs is None:
            raise Unmeasurable(self.cell.reason)
        return self.run_of(self.runs)

    @property
    def test(self) -> str:
        """Our split; of a cell that names none, the main test."""
        return self.cell.test or self.project.dataset(self.cell.ours).main_test

    def run_of(self, runs: PlannedRuns) -> RunSettings:
        """Return the settings of the first seed of some runs."""
        return self.project.run(runs.dataset, runs.system, self.project.settings.scale, runs.seeds[0])

    def by_seed(self, file_type: str, *, first: bool = False, **names: str) -> dict[str, str]:
        """Return a file of each seed, or of the first one."""
        return self.of_runs(self.runs, file_type, first=first, **names)

    def of_runs(self, runs: PlannedRuns, file_type: str, *, first: bool = False, **names: str) -> dict[str, str]:
        """Return a file of each seed of some runs, or of the first one."""
        names |= {"scale": self.project.settings.scale, "dataset": runs.dataset, "system": runs.system}
        seeds = runs.seeds[:1] if first else runs.seeds
        return {str(seed): self.project.layout.path(file_type, **names, seed=seed) for seed in seeds}

    def path(self, file_type: str, **names: str) -> str:
        """Return a file of the cell's data set."""
        return self.project.layout.path(file_type, dataset=self.cell.ours, **names)


def source_paths(value: Any) -> list[str]:
    """List the paths in the `files` of a source."""
    if isinstance(value, dict):
        return [path for own in value.values() for path in source_paths(own)]
    return [] if value is None else [value]
