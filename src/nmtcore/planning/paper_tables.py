"""Plan the tables of the papers: the runs, data sets and splits behind each cell and claim, and the files they need."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

from nmtcore.config.cells import GridCell, GridLine
from nmtcore.config.claims import Claim, TrainedSystem, table_claims
from nmtcore.config.datasets import GOLD, DatasetSettings
from nmtcore.config.needs import MissingAnnotation
from nmtcore.config.own_code import own_checksums
from nmtcore.config.paper_tables import (
    FIGURES_OF_KINDS,
    GAIN,
    INDUCTION_MEASURES,
    NUMBERS,
    SETTINGS,
    PaperTables,
    PaperTableSettings,
    paper_table_files,
    read_paper_tables,
)
from nmtcore.config.planned_tables import PlannedClaim, PlannedControl, PlannedRuns, PlannedTable
from nmtcore.config.project import Project
from nmtcore.config.published import FILTERED, PublishedTable, row_system
from nmtcore.config.recipes import ScaleSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.typed import choose, plain
from nmtcore.errors import UserError
from nmtcore.layout import CONFIGURED_TABLES, PAPER
from nmtcore.measures import MEASURES, Place, is_of_translations, measure_named, source_of, source_paths
from nmtcore.measures.trees import BRANCHING, UNTRAINED, WITHOUT_RUNS
from nmtcore.planning.configured_tables import configured_spec
from nmtcore.planning.external import missing_seeds_sentence

COMPARING = ("scores", "differences", "constructions", "examples")
"""Kinds of one's own tables that compare each system with what its entry says, if they name no baselines."""

ALWAYS = ("bleu", "chrf")
"""The measures by which each test of translations has scores, in columns of their own if no column of the paper has."""


@cache
def planned_table(project: Project, paper_table: str) -> PlannedTable:
    """Plan a table named PAPER_TABLE. Raises `UserError` if it or one of its systems is unknown."""
    paper, name = paper_and_table(project, paper_table)
    return _Planner(project, _paper_tables(project, paper), name).planned()


def paper_tables_of(project: Project, paper: str) -> list[str]:
    """List the tables of a paper, as PAPER_TABLE."""
    return [f"{paper}_{table}" for table in _paper_tables(project, paper).settings.tables]


def all_papers(project: Project) -> list[str]:
    """List the papers that have tables."""
    return sorted(paper_table_files(project))


def paper_and_table(project: Project, paper_table: str, *, where: str = "the target") -> tuple[str, str]:
    """Split the name PAPER_TABLE; a table of the configured systems stands for itself.

    Raises `UserError` if the paper has no such table.
    """
    if paper_table in CONFIGURED_TABLES:
        return paper_table, paper_table
    papers = [paper for paper in all_papers(project) if paper_table.startswith(f"{paper}_")]
    paper = max(papers, key=len, default="")
    choose(paper_table, paper_tables_of(project, paper) if paper else all_papers(project), noun="table", where=where)
    return paper, paper_table.removeprefix(f"{paper}_")


def paper_table_inputs(project: Project, *, paper_table: str) -> list[str]:
    """List the files that a table is made from, each once."""
    table = planned_table(project, paper_table)
    compared = [cell for claim in table.claims for cell in (claim.cell, claim.baseline)]
    compared += [cell for claim in table.claims for own in claim.controls for cell in (own.cell, own.baseline)]
    sources = (cell.source.get("files") for cell in (*table.cells, *compared) if cell is not None)
    return list(dict.fromkeys(path for files in sources for path in source_paths(files)))


def paper_figure_inputs(project: Project, *, paper_table: str) -> list[str]:
    """List the files that a figure is made from. Raises `UserError` if the table's kind draws none."""
    table_kind = table_settings(project, paper_table).kind
    if table_kind not in FIGURES_OF_KINDS:
        file = project.layout.path("paper_table", table="", paper_table=paper_table)
        raise UserError(f"{paper_table} is a table of {table_kind}, of which no figure is drawn: ask for {file}.")
    return paper_table_inputs(project, paper_table=paper_table)


def paper_table_notes(project: Project, *, paper_table: str) -> list[str]:
    """Write a sentence for each external system of a table that has no translations for some of its seeds."""
    return [
        missing_seeds_sentence(runs.dataset, runs.system, runs.missing)
        for runs in planned_table(project, paper_table).runs.values()
        if runs.missing
    ]


def paper_table_plan(project: Project, *, paper_table: str) -> dict[str, Any]:
    """Return the plan of a table as plain values."""
    return plain(planned_table(project, paper_table))


def table_settings(project: Project, paper_table: str) -> PaperTableSettings:
    """Return the settings of a table. Raises `UserError` if it is unknown."""
    paper, name = paper_and_table(project, paper_table)
    return _paper_tables(project, paper).settings.tables[name]


@cache
def _paper_tables(project: Project, paper: str) -> PaperTables:
    return configured_spec(project, paper) if paper in CONFIGURED_TABLES else read_paper_tables(project, paper)


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


_Treebank = tuple[str | None, str | None]
"""A data set and a split."""


class _Ours(NamedTuple):
    """Where a system's results on a split are here."""

    runs: str | None = None
    dataset: str | None = None
    split: str | None = None
    reason: str = ""


@dataclass
class _Planner:
    project: Project
    spec: PaperTables
    name: str
    runs: dict[str, PlannedRuns] = field(default_factory=dict)
    stand_ins: dict[str, str] = field(default_factory=dict)
    compared: dict[str, str] = field(default_factory=dict)

    def planned(self) -> PlannedTable:
        """Plan the table."""
        published, settings = self.spec.paper.tables[self.name], self.spec.settings.tables[self.name]
        self.compared = self._compared(published, settings)
        columns = list(self._columns(published, settings.kind))
        rows = self._rows(published, settings, columns)
        cells = [self._cell(published, row, column) for row in rows for column in columns]
        parses = _parses(cells)
        claims = tuple(self._claim(claim, parses) for claim in table_claims(self.spec.paper, self.name))
        measures = {cell.measure for cell in cells}
        return PlannedTable(
            paper=self.spec.paper.name,
            name=self.name,
            table_kind=settings.kind,
            title=self.spec.paper.settings.title,
            place=published.place,
            description=published.settings.description,
            scale=self.project.settings.scale,
            stand_ins=self.stand_ins,
            baselines=published.settings.baselines or tuple(dict.fromkeys(self.compared.values())),
            compared_with=self.compared,
            facts={**published.settings.facts, **settings.facts},
            sentence=settings.sentence,
            rows=tuple(rows),
            columns=tuple(columns),
            cells=tuple(_with_parses(cell, parses) for cell in cells),
            runs=self.runs,
            claims=claims,
            code=own_checksums("metrics", measures),
        )

    def _compared(self, published: PublishedTable, settings: PaperTableSettings) -> dict[str, str]:
        """Return what each system of one's own table is compared with, if that is in the table, too.

        That is nothing if the table names its baselines.
        """
        is_own = settings.rows or not self.spec.paper.name
        if published.settings.baselines or settings.kind not in COMPARING or not is_own:
            return {}
        lines = published.columns if settings.kind == "constructions" else published.rows
        systems = [line.system for line in lines if line.system and not self._is_other(line.system)]
        present = systems if self.spec.paper.name else self.project.settings.systems
        return {name: other for name in systems if (other := self.project.compared_with(name)) in present}

    def _columns(self, published: PublishedTable, table_kind: str) -> Iterator[GridLine]:
        """Yield the published columns, each with those of the measures that are shown beside it."""
        own = published.columns or (GridLine(name=""),)
        named = [
            replace(
                column,
                dataset=column.dataset or published.settings.dataset,
                split=column.split or published.settings.split,
                metric=column.metric or published.settings.metric,
                measure=self._measure(column.metric or published.settings.metric),
                digits=published.digits(column.name),
            )
            for column in own
        ]
        shown = {(column.dataset, column.split, column.measure) for column in named}
        for column in named:
            yield column
            measure = measure_named(column.measure)
            if measure is None or table_kind not in NUMBERS:
                continue
            also = ALWAYS if is_of_translations(column.measure) else measure.also
            for name in also:
                place = (column.dataset, column.split, name)
                if place not in shown:
                    shown |= {place} if also == ALWAYS else set()
                    more = {"metric": name, "measure": name, "digits": 0, "added": True}
                    yield replace(column, name=_added_name(column, name, also), **more)

    def _rows(
        self, published: PublishedTable, settings: PaperTableSettings, columns: Sequence[GridLine]
    ) -> list[GridLine]:
        """Return the published rows and those that are added: of systems and, to compare trees with, of others."""
        rows = list(published.rows)
        known = {row.name for row in rows}
        for name in dict.fromkeys((*published.settings.systems, *settings.added)):
            if name not in known:
                added = name not in published.settings.systems
                rows.append(GridLine(name=name, system=row_system(name), filtered=name.endswith(FILTERED), added=added))
        induction = [column for column in columns if column.measure in INDUCTION_MEASURES]
        if not induction:
            return rows
        untrained = {
            row.name: replace(row, name=row.name + UNTRAINED, added=True)
            for row in rows
            if any(self._is_induced(published, row, column) for column in induction)
        }
        rows = [own for row in rows for own in (row, untrained.get(row.name)) if own is not None]
        return [*rows, *(GridLine(name=name, system=name, added=True) for name in BRANCHING if name not in known)]

    def _is_induced(self, table: PublishedTable, row: GridLine, column: GridLine) -> bool:
        cell = self._cell(table, row, column)
        run = self._run(self.runs[cell.runs]) if cell.runs and not cell.reason else None
        return run is not None and bool(run.gold) and run.tree_comparison == "induced"

    def _measure(self, metric: str | None) -> str:
        name = (metric or "").removesuffix(GAIN)
        return self.spec.settings.measures.get(name, name)

    def _cell(self, table: PublishedTable, row: GridLine, column: GridLine) -> GridCell:
        cell = table.cell_at(row, column)
        measure = column.measure or self._measure(cell.metric)
        cell = replace(cell, measure=measure)
        untrained = row.name.endswith(UNTRAINED)
        if row.elsewhere or (untrained and measure not in INDUCTION_MEASURES):
            return replace(cell, system=row.name, dataset=None, split=None)
        if measure in SETTINGS:
            return self._with_source(replace(cell, dataset=None), column)
        ours = self._place(cell.system, cell.dataset, cell.split)
        baseline = self._baseline_runs(table, cell, column)
        cell = replace(cell, **ours._asdict(), baseline_runs=baseline)
        return self._with_source(cell, column, baseline)

    def _with_source(self, cell: GridCell, column: GridLine, baseline: str | None = None) -> GridCell:
        """Add what a cell is measured from, or the reason why nothing can be measured."""
        runs = self.runs.get(cell.runs or "")
        place = Place(self.project, cell, column, runs, self.runs.get(baseline or ""), not self.spec.paper.name)
        table_kind = self.spec.settings.tables[self.name].kind
        source = source_of(table_kind, cell.measure, place)
        return replace(cell, reason=source) if isinstance(source, str) else replace(cell, source=source)

    def _baseline_runs(self, table: PublishedTable, cell: GridCell, column: GridLine) -> str | None:
        """Return the runs of the first baseline; times are relative to it, or to the first row if there is none."""
        relative = column.metric == "relative_time"
        named = (self.compared.get(cell.system or ""), *table.settings.baselines)
        name = next(filter(None, (*named, *([row.name for row in table.rows] if relative else []))), "")
        if not name or self._is_other(name) or cell.system is None or (cell.system == name and not relative):
            return None
        baseline = next((row for row in table.rows if row.name == name), GridLine(name=name, system=row_system(name)))
        return self._place(baseline.system, table.trained_dataset(baseline, column), cell.split).runs

    def _place(self, system: str | None, dataset: str | None, split: str | None) -> _Ours:
        """Find our data set, split and runs in place of a paper's; a system that is not ours has no runs."""
        if dataset is None:
            return _Ours()
        ours, reason = our_dataset(self.project, dataset) if self.spec.paper.name else (dataset, "")
        if ours is None:
            return _Ours(reason=reason)
        if ours != dataset:
            self.stand_ins[dataset] = ours
        our_test, reason = (None, "") if split is None else our_split(self.project.dataset(ours), split)
        if reason or system is None or self._is_other(system):
            return _Ours(dataset=ours, split=our_test, reason=reason)
        runs = self._planned_runs(system, ours)
        if not runs.reason and our_test is not None and not self._has_outputs(runs, our_test):
            return _Ours(dataset=ours, split=our_test, reason=f"{system} has no translations of {ours}, {our_test}")
        return _Ours(runs=None if runs.reason else f"{ours}/{system}", dataset=ours, split=our_test, reason=runs.reason)

    def _is_other(self, system: str) -> bool:
        return system in self.spec.paper.settings.others or system in (*BRANCHING, *WITHOUT_RUNS)

    def _planned_runs(self, system: str, dataset: str) -> PlannedRuns:
        key = f"{dataset}/{system}"
        if key not in self.runs:
            self.runs[key] = self._find_runs(system, dataset)
        return self.runs[key]

    def _find_runs(self, system: str, dataset: str) -> PlannedRuns:
        settings = self.project.settings
        wanted = settings.seeds
        if self._scale.verdicts:
            wanted = self.spec.settings.seeds.get(system, wanted)
        seeds = self.project.seeds(dataset, system, wanted)
        try:
            for seed in seeds:
                self.project.run(dataset, system, settings.scale, seed)
        except MissingAnnotation as error:
            return PlannedRuns(dataset=dataset, system=system, reason=f"{dataset} has {error.missing}")
        if system in self.project.systems.external:
            note = self.project.system(system).external.source_note
            missing = tuple(seed for seed in wanted if seed not in seeds)
            return PlannedRuns(dataset=dataset, system=system, seeds=seeds, missing=missing, provenance=note)
        if settings.unfinished_runs == "train":
            return PlannedRuns(dataset=dataset, system=system, seeds=seeds)
        finished = tuple(seed for seed in seeds if self._is_finished(system, dataset, seed))
        unfinished = tuple(seed for seed in seeds if seed not in finished)
        reason = "" if finished else f"{system} on {dataset} has no finished run (unfinished_runs: leave_out)"
        return PlannedRuns(dataset=dataset, system=system, seeds=finished, unfinished=unfinished, reason=reason)

    def _has_outputs(self, runs: PlannedRuns, split: str) -> bool:
        """Return whether the runs translate a split; an external system may have files for some splits only."""
        run = self._run(runs)
        return run.external is None or split in run.tests

    def _run(self, runs: PlannedRuns) -> RunSettings:
        """Return the settings of the first seed."""
        return self.project.run(runs.dataset, runs.system, self.project.settings.scale, runs.seeds[0])

    @property
    def _scale(self) -> ScaleSettings:
        return self.project.scale(self.project.settings.scale)

    def _is_finished(self, system: str, dataset: str, seed: int) -> bool:
        names = {"scale": self.project.settings.scale, "dataset": dataset, "system": system, "seed": seed}
        return bool(self.project.layout.existing("hypotheses", **names))

    def _claim(self, claim: Claim, parses: Mapping[_Treebank, Mapping[str, str]]) -> PlannedClaim:
        system = self._place(claim.system.system, claim.system.dataset, claim.split)
        elsewhere = claim.baseline_from_elsewhere
        quoted = elsewhere and not self._is_other(claim.baseline.system)
        baseline = _Ours() if quoted else self._place(claim.baseline.system, claim.baseline.dataset, claim.split)
        reason = system.reason or baseline.reason
        if quoted:
            reason = reason or f"{claim.baseline.system} is a result that the paper quotes from others"
        elif system.runs is None and not reason:
            reason = "the paper names no data set" if system.dataset is None else f"{claim.system.system} is no system"
        elif system.runs == baseline.runs:
            reason = reason or f"{system.dataset} stands in for both data sets, {_trained_on(claim)}"
        elif not elsewhere and system.split != baseline.split:
            reason = reason or f"{system.runs} is tested on {system.split}, and {baseline.runs} on {baseline.split}"
        if reason:  # what decides nothing needs no control
            return PlannedClaim(claim=claim, reason=reason)
        compared = {system.runs: "system", baseline.runs: "baseline"}
        cells = [self._claimed(claim, *own) for own in ((claim.system, system), (claim.baseline, baseline))]
        cells[1] = _with_parses(cells[1], parses)
        controls = tuple(self._control(claim, control, compared, cells[1]) for control in claim.controls)
        undecided = self._undecided(cell.runs for cell in cells)
        return PlannedClaim(claim=claim, cell=cells[0], baseline=cells[1], controls=controls, undecided=undecided)

    def _claimed(self, claim: Claim, trained: TrainedSystem, ours: _Ours) -> GridCell:
        """Return the cell of a system of a claim."""
        names = {"system": trained.system, "metric": claim.metric, "item": claim.item}
        names["measure"] = self._measure(claim.metric)
        cell = GridCell(row=trained.system, column="", **names, **ours._asdict())
        return self._with_source(cell, GridLine(name="", dataset=claim.dataset, split=claim.split, metric=claim.metric))

    def _control(
        self, claim: Claim, control: TrainedSystem, compared: Mapping[str | None, str], baseline: GridCell
    ) -> PlannedControl:
        """Plan the comparison of a control with the baseline, or say why it is not run."""
        ours = self._place(control.system, control.dataset, claim.split)
        reason = ours.reason
        if not reason and claim.baseline.system == claim.system.system:
            other = TrainedSystem(control.system, claim.baseline.dataset)
            place = self._place(*other, claim.split)
            reason, baseline = place.reason, self._claimed(claim, other, place)
        if not reason and ours.runs in compared:
            reason = f"on {ours.dataset} it is the {compared[ours.runs]} itself"
        if reason:
            return PlannedControl(control, reason=reason)
        return PlannedControl(control, self._claimed(claim, control, ours), baseline)

    def _undecided(self, compared: Iterable[str | None]) -> str:
        """Say why differences between runs at this scale do not decide a claim; return nothing if they do."""
        scale = self.project.settings.scale
        if not self._scale.verdicts:
            return f"the scale {scale} is too small for a verdict"
        runs = (self._run(self.runs[key]) for key in compared if key is not None)
        if self._scale.converges or not any(run.has_second_loss for run in runs):
            return ""
        return (
            "a system has a second loss, which slows the start, and training at the scale "
            f"{scale} ends before the baseline has stopped improving"
        )


def _trained_on(claim: Claim) -> str:
    names: list[TrainedSystem] = [claim.system, claim.baseline]
    return " and ".join(dict.fromkeys(str(trained.dataset) for trained in names))


def _added_name(column: GridLine, measure: str, also: Sequence[str]) -> str:
    """Name the column of a measure that is shown beside another."""
    test = column.name.removesuffix(column.metric or "").removesuffix("/")
    label = MEASURES[measure].label
    if also == ALWAYS:
        return label + (f" of {test}" if test else "")
    return f"{column.name}, {label}" if test else label


def _parses(cells: Iterable[GridCell]) -> dict[_Treebank, dict[str, str]]:
    """Return the parses of each treebank by the runs of cells."""
    parses: dict[_Treebank, dict[str, str]] = {}
    for cell in cells:
        files = cell.source.get("files", {})
        trees = "gold_parses" in files or (cell.split or "").startswith(GOLD)
        for seed, path in files.get("gold_parses", files.get("counts", {})).items() if trees else ():
            parses.setdefault((cell.dataset, cell.split), {})[f"{cell.runs}/seed{seed}"] = path
    return parses


def _with_parses(cell: GridCell, parses: Mapping[_Treebank, Mapping[str, str]]) -> GridCell:
    """Add to a cell of trees that need no run the parses of their treebank, so that all have the same sentences."""
    files = cell.source.get("files", {})
    if "trees" not in files or cell.runs is not None:
        return cell
    files = {**files, "compared": dict(parses.get((cell.dataset, cell.split), {}))}
    return replace(cell, source={**cell.source, "files": files})


def paper_table_jsons(project: Project, *, paper: str, table: str = "") -> list[str]:
    """List the JSON of each table of a paper; `table` is the folder of a version that the user named."""
    return [
        project.layout.path("paper_json", table=table, paper_table=name) for name in paper_tables_of(project, paper)
    ]


def claimed_table_jsons(project: Project, *, table: str = "") -> list[str]:
    """List the JSON of each table that a claim is made about."""
    return [
        project.layout.path("paper_json", table=table, paper_table=name)
        for paper in all_papers(project)
        for name in paper_tables_of(project, paper)
        if planned_table(project, name).claims
    ]


def all_paper_results(project: Project) -> list[str]:
    """List the ledger of claims, and the page and the figures of each paper."""
    path, papers = project.layout.path, all_papers(project)
    figures = [
        path("paper_figure", table="", paper_table=name)
        for paper in papers
        for name in paper_tables_of(project, paper)
        if planned_table(project, name).table_kind in FIGURES_OF_KINDS
    ]
    pages = [path("paper_page_table", table="", paper=paper) for paper in papers]
    tables = [
        path("paper_table", table="", paper_table=name) for paper in papers for name in paper_tables_of(project, paper)
    ]
    return [path("claim_table", table=""), *pages, *tables, *figures]
