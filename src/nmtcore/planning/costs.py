"""What the runs and data of tables take, before anything runs; each run and each file counts once."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from nmtcore.config.planned_costs import Estimate, PlannedCost, PlannedCosts
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.config.speeds import SpeedsSettings, read_speeds
from nmtcore.layout import PAPER
from nmtcore.planning.data_costs import FILE_SIZES, data_files, file_cost, made_from, result_files
from nmtcore.planning.known_sizes import KnownSizes
from nmtcore.planning.paper_tables import paper_table_inputs
from nmtcore.planning.run_costs import RunCosts

OTHERS = "no paper's table"
"""The name of the row of runs and data that no table of a paper needs."""


def planned_costs(
    project: Project,
    *,
    tables: Iterable[str],
    others: Iterable[RunSettings] = (),
    files: Iterable[str] = (),
    on_gpu: bool,
    is_there: Callable[[str], bool] = os.path.exists,
    gpu_option: str = "--config device=cuda",
) -> PlannedCosts:
    """Estimate what tables of the papers, other runs and other files of data take.

    Each run, and each file of data, counts in the first row that needs it. Tables that need neither have no row.
    `others` and `files` may name those of tables again; files that are no data cost nothing.
    `is_there` says of the path of a model or a file of data whether it need not be made. `gpu_option` is the option of
    the caller's command line that asks for a GPU. Raises `UserError` if speeds.yaml, or a file of the results folder
    that is read, is broken.
    """
    speeds = read_speeds(project.folders)
    sizes = KnownSizes(project, speeds.subwords_per_sentence)
    run_costs = RunCosts(project, speeds.devices[speeds.gpu if on_gpu else speeds.cpu], sizes)
    rows = _Rows(project, speeds, sizes, run_costs, is_there)
    counted = [rows.of_table(name) for name in tables]
    counted.append(rows.of_others(others, files))
    counted = [row for row in counted if row.runs or row.disk_bytes != Estimate()]
    total = rows.total(counted)
    return PlannedCosts(
        rows=tuple(counted),
        total=total,
        hours="GPU-hours" if on_gpu else "core-hours",
        notes=tuple(_notes(project, speeds, run_costs, gpu_option, at_most=total.updates.at_most)),
    )


@dataclass
class _Rows:
    """Makes the rows, in order."""

    project: Project
    speeds: SpeedsSettings
    sizes: KnownSizes
    run_costs: RunCosts
    is_there: Callable[[str], bool]
    counted: set[str] = field(default_factory=set)
    """The models and files that rows count."""
    finished: set[str] = field(default_factory=set)
    """The models of finished runs."""

    def of_table(self, name: str) -> PlannedCost:
        """Count the runs and the other files that a table is made from."""
        runs: dict[str, RunSettings] = {}
        files: list[str] = []
        for path in paper_table_inputs(self.project, paper_table=name):
            parsed = self.project.layout.parse(path)
            if parsed is None or "seed" not in parsed.names:
                files.append(path)
                continue
            run = self.project.run(parsed["dataset"], parsed["system"], parsed["scale"], int(parsed["seed"]))
            runs |= {self._model(needed): needed for needed in self._with_starts(run)}
            if not self.is_there(path):
                files += result_files(self.project, run, parsed)
        return self._row(name, [run for run in runs.values() if run.external is None], files)

    def of_others(self, runs: Iterable[RunSettings], files: Iterable[str]) -> PlannedCost:
        """Count the runs and files that no table has, such as the trees that scores of the tables' runs need."""
        own = [run for run in runs if self._model(run) not in self.counted]
        return self._row(OTHERS, own, list(files))

    def total(self, rows: Iterable[PlannedCost]) -> PlannedCost:
        """Return the sum of the rows, with each run once."""
        total = sum(rows, start=PlannedCost(name="total"))
        return replace(total, runs=len(self.finished) + total.new, finished=len(self.finished), counted=0)

    def _model(self, run: RunSettings) -> str:
        names = {"scale": run.scale, "dataset": run.dataset, "system": run.system, "seed": run.seed}
        return self.project.layout.path("model", **names)

    def _with_starts(self, run: RunSettings) -> Iterator[RunSettings]:
        """Yield a run after those whose models it starts from."""
        if run.start_from is not None:
            yield from self._with_starts(self.project.run(run.dataset, run.start_from, run.scale, run.seed))
        yield run

    def _row(self, name: str, runs: list[RunSettings], files: list[str]) -> PlannedCost:
        finished = counted = 0
        cost = PlannedCost(name=name, runs=len(runs))
        data = dict.fromkeys(files)
        for run in runs:
            model = self._model(run)
            if self.is_there(model):
                self.finished.add(model)
                finished += 1
            elif self._is_new(model):
                cost += self.run_costs.of(run)
                data |= dict.fromkeys(data_files(self.project, run))
            else:
                counted += 1
        for path in data:
            cost += self._file_cost(path)
        return replace(cost, finished=finished, counted=counted)

    def _is_new(self, path: str) -> bool:
        """Return whether no row counts a path yet; from now on one does."""
        new = path not in self.counted
        self.counted.add(path)
        return new

    def _file_cost(self, path: str) -> PlannedCost:
        """Return the cost of a file of data and of the files it is made from; other files cost nothing."""
        parsed = self.project.layout.parse(path)
        if parsed is None or parsed.file_type not in FILE_SIZES or self.is_there(path) or not self._is_new(path):
            return PlannedCost()
        cost = file_cost(self.project, parsed, speeds=self.speeds, sizes=self.sizes)
        for source in made_from(self.project, parsed):
            cost += self._file_cost(source)
        return cost


def _notes(
    project: Project, speeds: SpeedsSettings, run_costs: RunCosts, gpu_option: str, *, at_most: bool
) -> Iterator[str]:
    """Yield sentences about the estimates: limits, speeds, what is left out, assumed and unknown."""
    if at_most:
        yield "<=: validations end training earlier than the limit of updates, perhaps much earlier."
    yield from run_costs.speeds.sentences()
    if run_costs.device.device == "cpu" and project.settings.scale == PAPER:
        yield f"GPU-hours ({speeds.devices[speeds.gpu].description}, by speeds.yaml): {gpu_option}."
    yield "Left out: downloads, treebanks, files of translations, other preparation than annotation, tables."
    if speeds.subwords_per_sentence is not None:
        yield f"Assumed: {speeds.subwords_per_sentence:g} subwords per sentence (speeds.yaml)."
    if run_costs.sizes.unknown:
        yield f"Unknown (+ ?): {'; '.join(run_costs.sizes.unknown)}."
