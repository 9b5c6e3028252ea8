"""Plan tables: the runs, data sets and splits behind each cell and claim, and the files that they need; the report."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import Any

from nmtcore.config.assembly import MissingAnnotation
from nmtcore.config.datasets import GOLD, DatasetSettings
from nmtcore.config.project import Project
from nmtcore.config.registry import own_checksums
from nmtcore.config.runs import RunSettings
from nmtcore.config.systems import ScaleSettings
from nmtcore.config.typed import changed, choose
from nmtcore.errors import UserError
from nmtcore.layout import CONFIGURED_TABLES, PAPER, ParsedPath
from nmtcore.planning.evaluation import missing_seeds_sentence
from nmtcore.planning.inference import measured_features
from nmtcore.planning.training import path_of_run
from nmtcore.tables.cells import Cell, CellFiles, Claim, PlannedRuns, PlannedTable, Unmeasurable, source_paths
from nmtcore.tables.configured import configured_paper
from nmtcore.tables.kinds import KINDS
from nmtcore.tables.measures import INDUCTION, SETTINGS
from nmtcore.tables.papers import Paper, cell_without_number, paper_files, read_paper
from nmtcore.tables.trees import BRANCHING, UNTRAINED, WITHOUT_RUNS


@cache
def planned_table(project: Project, table: str) -> PlannedTable:
    """Plan a table named PAPER_TABLE. Raises `UserError` if it or one of its systems is unknown."""
    paper, name = paper_and_table(project, table)
    tables = _paper(project, paper)
    return _Planner(project, tables, tables.tables[name]).planned()


def tables_of(project: Project, paper: str) -> list[str]:
    """List the tables of a paper, as PAPER_TABLE."""
    return [f"{paper}_{table}" for table in _paper(project, paper).tables]


def all_tables(project: Project) -> list[str]:
    """List the tables of all papers, as PAPER_TABLE."""
    return [name for paper in all_papers(project) for name in tables_of(project, paper)]


def all_papers(project: Project) -> list[str]:
    """List the papers that have tables."""
    return sorted(paper_files(project))


def paper_and_table(project: Project, table: str, *, where: str = "the target") -> tuple[str, str]:
    """Split the name PAPER_TABLE; a table of the configured systems stands for itself.

    Raises `UserError` if the paper has no such table.
    """
    if table in CONFIGURED_TABLES:
        return table, table
    papers = [paper for paper in all_papers(project) if table.startswith(f"{paper}_")]
    paper = max(papers, key=len, default="")
    choose(table, tables_of(project, paper) if paper else all_papers(project), noun="table", where=where)
    return paper, table.removeprefix(f"{paper}_")


def table_inputs(project: Project, *, table: str) -> list[str]:
    """List the files that a table is made from, each once."""
    table = planned_table(project, table)
    cells = (*table.cells, *(cell for claim in table.claims for cell in claim.cells()))
    return list(dict.fromkeys(path for cell in cells for path in source_paths(cell.source.get("files"))))


def figure_inputs(project: Project, *, table: str, folder: str = "") -> list[str]:
    """List the frame that a figure is made from. Raises `UserError` if the table's kind draws none."""
    paper, name = paper_and_table(project, table)
    table_kind = _paper(project, paper).tables[name].table_kind
    if not KINDS[table_kind].has_figure:
        file = project.layout.path("table", folder="", table=table)
        raise UserError(f"{table} is a table of {table_kind}, of which no figure is drawn: ask for {file}.")
    return [project.layout.path("table_frame", folder=folder, table=table)]


def has_figure(project: Project, table: str) -> bool:
    """Return whether a table also has a figure."""
    return KINDS[planned_table(project, table).table_kind].has_figure


def table_notes(project: Project, *, table: str) -> list[str]:
    """Write a sentence for each external system of a table that has no translations for some of its seeds."""
    return [
        missing_seeds_sentence(runs.dataset, runs.system, runs.missing)
        for runs in planned_table(project, table).runs.values()
        if runs.missing
    ]


def table_plan(project: Project, *, table: str) -> dict[str, Any]:
    """Return the plan of a table as plain values, without those at their defaults."""
    return changed(planned_table(project, table))


def planned_choice(project: Project, *, table: str, dataset: str, root: str) -> dict[str, Any]:
    """Return what the choice of a sweep depends on: its tests, the dev counts of each trial by seed, settings...

    Raises `UserError` if the table makes no choice on the data set, or not at the scale of this root folder.
    """
    planned, scale = planned_table(project, table), project.settings.scale
    cells = [cell for cell in planned.cells if cell.source and cell.ours == dataset and planned.table_kind == "sweep"]
    if not cells or root != project.layout.root(scale):
        raise UserError(f"{table} makes no such choice at the scale {scale}: ask for its table, --config scale=SCALE.")
    sweep = {"scale": scale, "measure": cells[0].measure, "tests": list(dict.fromkeys(cell.test for cell in cells))}
    sweep["trials"] = {cell.system: cell.source["files"]["counts"] for cell in cells}
    runs = [project.run(dataset, trial, scale, int(seed)) for trial, seeds in sweep["trials"].items() for seed in seeds]
    sweep["settings"] = [[changed(run.decoding), changed(run.evaluation), run.sentences.test] for run in runs]
    files = [project.layout.path("pairs", dataset=dataset, split=split) for split in sweep["tests"]]
    for run in runs:
        files += [path_of_run(project, file_type, run) for file_type in ("dev_counts", "model")]
        for split in sweep["tests"]:
            files += measured_features(project, run=run, split=split, measure="translate_split")
    return {**sweep, "files": list(dict.fromkeys(files))}


@cache
def _paper(project: Project, paper: str) -> Paper:
    return configured_paper(project, paper) if paper in CONFIGURED_TABLES else read_paper(project, paper)


@cache
def stand_ins_of(project: Project) -> Mapping[str, str] | None:
    """Return the data sets that stand in for the papers' at the configured scale; None: these are used themselves."""
    name = project.settings.stand_ins
    if name is None or project.settings.scale == PAPER:
        return None
    return project.stand_ins(name, where="config.yaml: stand_ins")


@cache
def _datasets_with_stand_ins(project: Project) -> frozenset[str]:
    """Return the data sets of the papers: those that any choice of stand-ins names."""
    choices = [project.stand_ins(name, where="stand_ins") for name in project.stand_in_files]
    return frozenset(dataset for choice in choices for dataset in choice)


def our_dataset(project: Project, dataset: str) -> tuple[str | None, str]:
    """Return the data set in place of a paper's, or None and the reason why there is none; others are used as such."""
    if dataset not in project.dataset_files:
        return None, f"there is no data set {dataset}"
    stand_ins = stand_ins_of(project)
    if stand_ins is None or dataset not in _datasets_with_stand_ins(project):
        return dataset, ""
    if dataset not in stand_ins:
        return None, f"no data set stands in for {dataset} (stand_ins: {project.settings.stand_ins})"
    return stand_ins[dataset], ""


def our_split(dataset: DatasetSettings, split: str) -> tuple[str | None, str]:
    """Return the split of our data set in place of a paper's, or None and the reason why there is none."""
    if split in dataset.splits:
        return split, ""
    if not split.startswith(GOLD):
        return dataset.main_test, ""
    treebanks = dataset.source_treebanks(GOLD)
    return (treebanks[0], "") if treebanks else (None, f"{dataset.name} has no treebank of the source side")


@dataclass
class _Planner:
    project: Project
    paper: Paper
    table: PlannedTable
    """The table as its files have it."""
    runs: dict[str, PlannedRuns] = field(default_factory=dict)
    stand_ins: dict[str, str] = field(default_factory=dict)

    def planned(self) -> PlannedTable:
        """Plan the table."""
        rows = self._rows()
        cells = [self._measured(row.row, column) for row, column in product(rows, self.table.columns)]
        claims = tuple(map(self._claim, self.table.claims))
        return replace(
            self.table,
            scale=self.project.settings.scale,
            stand_ins=self.stand_ins,
            rows=tuple(rows),
            cells=tuple(cells),
            runs=self.runs,
            claims=claims,
            code=own_checksums("metrics", {cell.measure for cell in cells}),
        )

    def _rows(self) -> list[Cell]:
        """Return the rows, with those that induced trees are compared with: of untrained models, and of others."""
        induction = [column for column in self.table.columns if column.measure in INDUCTION]
        if not induction:
            return list(self.table.rows)
        rows: list[Cell] = []
        for row in self.table.rows:
            rows.append(row)
            if any(self._is_induced(self._measured(row.row, column)) for column in induction):
                rows.append(replace(row, row=row.row + UNTRAINED, added=True))
        known = {row.row for row in rows}
        return [*rows, *(Cell(row=name, system=name, added=True) for name in BRANCHING if name not in known)]

    def _is_induced(self, cell: Cell) -> bool:
        run = self._run(cell.runs) if cell.runs and not cell.reason else None
        return run is not None and bool(run.gold) and run.tree_comparison == "induced"

    def _cell(self, row: str, column: Cell) -> Cell:
        """Return a cell as the files have it, or what it would measure if they lack its row."""
        trained = row.removesuffix(UNTRAINED)
        if all(trained != known.row for known in self.table.rows):
            return cell_without_number(row, column)
        cell = self.table.cell(trained, column.column)
        return cell if row == trained else replace(cell, row=row, published=None, marks="")

    def _measured(self, row: str, column: Cell) -> Cell:
        """Plan a cell."""
        cell = self._cell(row, column)
        if cell.elsewhere:
            return cell
        if row.endswith(UNTRAINED) and cell.measure not in INDUCTION:
            return replace(cell, system=row)
        if cell.measure in SETTINGS:
            return self._with_source(cell)
        ours = self._with_runs(cell)
        return self._with_source(replace(ours, baseline_runs=self._baseline_runs(cell, column)))

    def _with_source(self, cell: Cell) -> Cell:
        """Add what a cell is measured from, or the reason why nothing can be measured."""
        runs, baseline = (self.runs.get(key or "") for key in (cell.runs, cell.baseline_runs))
        files = CellFiles(self.project, cell, runs, baseline, configured=not self.paper.name)
        files = files._replace(table=f"{self.table.paper}_{self.table.name}")
        try:
            return replace(cell, source=KINDS[self.table.table_kind].source(files))
        except Unmeasurable as error:
            return replace(cell, reason=str(error))

    def _baseline_runs(self, cell: Cell, column: Cell) -> str | None:
        """Return the runs of the first baseline (of times, or of the first row), or of the system that a cell names."""
        if cell.metric == "agreement":
            is_system = cell.item in self.project.system_entries
            return self._with_runs(self._cell(cell.item, replace(column, item=cell.item))).runs if is_system else None
        relative = cell.metric == "relative_time"
        compared = self.table.compared_with
        named = [compared.get(cell.system or "")] if compared else [*self.table.baselines]
        named += [row.row for row in self.table.rows] if relative else []
        name = next(filter(None, named), "")
        if not name or self._is_other(name) or cell.system is None or (cell.system == name and not relative):
            return None
        return self._with_runs(self._cell(name, column)).runs

    def _with_runs(self, cell: Cell) -> Cell:
        """Add our data set, split and runs in place of a paper's, or the reason why there are none."""
        if cell.dataset is None:
            return cell
        ours, reason = our_dataset(self.project, cell.dataset) if self.paper.name else (cell.dataset, "")
        if ours is None:
            return replace(cell, reason=reason)
        if ours != cell.dataset:
            self.stand_ins[cell.dataset] = ours
        test, reason = (None, "") if cell.split is None else our_split(self.project.dataset(ours), cell.split)
        cell = replace(cell, ours=ours, test=test, reason=reason)
        if reason or cell.system is None or self._is_other(cell.system):
            return cell
        key = f"{ours}/{cell.system}"
        if key not in self.runs:
            self.runs[key] = self._find_runs(cell.system, ours)
        if self.runs[key].reason:
            return replace(cell, reason=self.runs[key].reason)
        run = self._run(key)
        if run.external is not None and test not in (None, *run.tests):
            return replace(cell, reason=f"{cell.system} has no translations of {ours}, {test}")
        return replace(cell, runs=key)

    def _is_other(self, system: str | None) -> bool:
        return system in self.paper.settings.others or system in (*BRANCHING, *WITHOUT_RUNS)

    def _find_runs(self, system: str, dataset: str) -> PlannedRuns:
        settings, names = self.project.settings, {"dataset": dataset, "system": system}
        of_paper = self.paper.settings.seeds if self._scale.verdicts else {}
        wanted = of_paper.get(system, settings.seeds)
        seeds = self.project.seeds(dataset, system, wanted)
        try:
            for seed in seeds:
                self.project.run(dataset, system, settings.scale, seed)
        except MissingAnnotation as error:
            return PlannedRuns(**names, reason=f"{dataset} has {error.missing}")
        if system in self.project.systems.external:
            note = self.project.system(system).external.source_note
            missing = tuple(seed for seed in wanted if seed not in seeds)
            return PlannedRuns(**names, seeds=seeds, missing=missing, provenance=note)
        if settings.unfinished_runs == "train":
            return PlannedRuns(**names, seeds=seeds)
        existing = self.project.layout.existing
        finished = tuple(seed for seed in seeds if existing("hypotheses", **names, scale=settings.scale, seed=seed))
        unfinished = tuple(seed for seed in seeds if seed not in finished)
        reason = "" if finished else f"{system} on {dataset} has no finished run (unfinished_runs: leave_out)"
        return PlannedRuns(**names, seeds=finished, unfinished=unfinished, reason=reason)

    def _run(self, key: str) -> RunSettings:
        """Return the settings of the first seed of some runs."""
        runs = self.runs[key]
        return self.project.run(runs.dataset, runs.system, self.project.settings.scale, runs.seeds[0])

    @property
    def _scale(self) -> ScaleSettings:
        return self.project.scale(self.project.settings.scale)

    def _claim(self, claim: Claim) -> Claim:
        """Plan a claim, or say why it cannot be decided; then it needs no control."""
        system, baseline = self._with_runs(claim.system), claim.baseline
        terms = [(weight, self._with_runs(cell)) for weight, cell in claim.terms]
        pairs = [tuple(map(self._with_runs, pair)) for pair in claim.pairs]
        more = [*(cell for _, cell in terms), *(cell for pair in pairs for cell in pair)]
        elsewhere = baseline.elsewhere or baseline.system in self.paper.settings.others
        quoted = elsewhere and not self._is_other(baseline.system)
        baseline = baseline if quoted else self._with_runs(baseline)
        reason = next((cell.reason for cell in (system, baseline, *more) if cell.reason), "")
        if quoted:
            reason = reason or f"{baseline.system} is a result that the paper quotes from others"
        elif system.runs is None and not reason:
            reason = "the paper names no data set" if system.ours is None else f"{system.system} is no system"
        elif same := next((pair for pair in _told_apart(claim, system, baseline, more) if _is_same(*pair)), None):
            names = " and ".join(dict.fromkeys(str(cell.dataset) for cell in same))
            reason = reason or f"{system.ours} stands in for both data sets, {names}"
        elif not elsewhere and system.test != baseline.test and claim.compares != "correlation":
            reason = reason or f"{system.runs} is tested on {system.test}, and {baseline.runs} on {baseline.test}"
        if reason:
            return replace(claim, reason=reason)
        planned = replace(
            claim,
            system=self._claimed_source(system),
            baseline=self._claimed_source(baseline),
            terms=tuple((weight, self._claimed_source(cell)) for weight, cell in terms),
            pairs=tuple(tuple(map(self._claimed_source, pair)) for pair in pairs),
            undecided=self._undecided({cell.runs: None for cell in (system, baseline, *more)}),
        )
        return replace(planned, controls=tuple(self._control(*pair, claim, planned) for pair in claim.controls))

    def _claimed_source(self, cell: Cell) -> Cell:
        """Add what a cell of a claim is measured from; some need the runs of another system, too."""
        relative = cell.metric in ("relative_time", "agreement")
        return self._with_source(replace(cell, baseline_runs=self._baseline_runs(cell, cell)) if relative else cell)

    def _control(self, control: Cell, against: Cell, claim: Claim, planned: Claim) -> tuple[Cell, Cell]:
        """Plan a control and the cell that it is compared with, or say why they are not compared."""
        control = self._with_runs(control)
        reason, is_shared = control.reason, against == claim.baseline
        if not reason and not is_shared:
            against = self._with_runs(against)
            reason = against.reason
        compared = {planned.system.runs: "system", planned.baseline.runs: "baseline"}
        if not reason and control.runs in compared:
            reason = f"on {control.ours} it is the {compared[control.runs]} itself"
        if reason:
            return replace(control, reason=reason), against
        return self._with_source(control), planned.baseline if is_shared else self._with_source(against)

    def _undecided(self, compared: Iterable[str | None]) -> str:
        """Say why differences between runs at this scale do not decide a claim; return nothing if they do."""
        scale = self.project.settings.scale
        if not self._scale.verdicts:
            return f"the scale {scale} is too small for a verdict"
        runs = (self._run(key) for key in compared if key is not None)
        if self._scale.converges or not any(run.has_second_loss for run in runs):
            return ""
        return (
            "a system has a second loss, which slows the start, and training at the scale "
            f"{scale} ends before the baseline has stopped improving"
        )


def _told_apart(claim: Claim, system: Cell, baseline: Cell, terms: Sequence[Cell]) -> Iterator[tuple[Cell, Cell]]:
    """Yield the pairs of cells that must not be of the same runs and sentences, or a claim is about nothing."""
    if claim.compares != "correlation":
        yield system, baseline
    if claim.compares == "gains":
        yield terms[0], terms[2]  # the systems of both gains
        yield terms[2], terms[3]


def _is_same(cell: Cell, other: Cell) -> bool:
    return (cell.runs, cell.test, cell.item, cell.measure) == (other.runs, other.test, other.item, other.measure)


def table_frames(project: Project, *, paper: str = "", folder: str = "") -> list[str]:
    """List the frame of each table of a paper, or of all; `folder` is that of a version that the user named."""
    names = tables_of(project, paper) if paper else all_tables(project)
    return [project.layout.path("table_frame", folder=folder, table=name) for name in names]


def claimed_table_frames(project: Project, *, folder: str = "") -> list[str]:
    """List the frame of each table that a claim is made about."""
    return [
        project.layout.path("table_frame", folder=folder, table=name)
        for name in all_tables(project)
        if planned_table(project, name).claims
    ]


def all_figures(project: Project) -> list[str]:
    """List the figures of the tables of all papers."""
    return [
        project.layout.path("figure", folder="", table=name)
        for name in all_tables(project)
        if has_figure(project, name)
    ]


def all_paper_results(project: Project) -> list[str]:
    """List the ledger of claims, the page of each paper, and its tables and figures."""
    path = project.layout.path
    pages = [path("paper_page_table", folder="", paper=paper) for paper in all_papers(project)]
    tables = [path("table", folder="", table=name) for name in all_tables(project)]
    return [path("claim_table", folder=""), *pages, *tables, *all_figures(project)]


def report_scores(project: Project) -> list[str]:
    """List the scores of all runs that a table of the papers needs."""
    return [project.layout.path("scores", **run.names) for run in _table_runs(project)]


def report_runs(project: Project) -> dict[str, int]:
    """Return the times of the files of runs that no table needs, which are no inputs: they make the report again."""
    known = {tuple(run.names.values()) for run in _table_runs(project)}
    existing = _existing(project).items()
    return {path: time for path, (run, time) in existing if tuple(run.names.values()) not in known}


def system_descriptions(project: Project) -> dict[str, str]:
    """Return the descriptions of all systems that have one of their own."""
    entries = project.system_entries.items()
    return {name: entry["description"] for name, (_, entry) in entries if entry.get("description")}


def system_comparisons(project: Project) -> dict[str, str]:
    """Return the system that each system with runs is compared with, without those that are compared with none."""
    compared = {}
    for name in sorted({run["system"] for run in _shown_runs(project)}):
        with suppress(UserError):  # the configuration no longer has it
            if (other := project.compared_with(name)) is not None:
                compared[name] = other
    return compared


def main_tests(project: Project) -> dict[str, str]:
    """Return the main test of each data set that has or will have runs at the configured scale."""
    tests = {}
    for name in sorted({run["dataset"] for run in _shown_runs(project)}):
        with suppress(UserError):  # the configuration no longer has it
            tests[name] = project.dataset(name).main_test
    return tests


def _shown_runs(project: Project) -> list[ParsedPath]:
    """List the runs that the report shows: those that have files, or that a table needs."""
    return [*_table_runs(project), *(run for run, _ in _existing(project).values())]


def _table_runs(project: Project) -> list[ParsedPath]:
    """List the runs behind the tables of the papers, each once."""
    names = {"scale": project.settings.scale}
    paths = [
        project.layout.path("scores", **names, dataset=runs.dataset, system=runs.system, seed=seed)
        for name in all_tables(project)
        if planned_table(project, name).table_kind != "sweep"  # whose trials have no scores of tests
        for runs in planned_table(project, name).runs.values()
        for seed in runs.seeds
    ]
    return [parsed for path in dict.fromkeys(paths) if (parsed := project.layout.parse(path))]


def _existing(project: Project) -> dict[str, tuple[ParsedPath, int]]:
    """Return the scores and training logs of the results folder at the configured scale: their names and times."""
    layout, scale = project.layout, project.settings.scale
    paths = [path for file_type in ("scores", "history") for path in layout.existing(file_type, scale=scale)]
    return {str(path): (parsed, path.stat().st_mtime_ns) for path in paths if (parsed := layout.parse(path))}
