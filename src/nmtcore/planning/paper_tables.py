"""Plan the tables of the papers: the runs, data sets and splits behind each cell and claim, and the files they need."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from nmtcore.config.claims import Claim, TrainedSystem, claim_to_json, table_claims
from nmtcore.config.datasets import GOLD, DatasetSettings
from nmtcore.config.needs import MissingAnnotation
from nmtcore.config.own_code import own_checksums
from nmtcore.config.paper_tables import (
    FIGURES_OF_KINDS,
    SEGMENT_MEASURES,
    PaperTables,
    PaperTableSettings,
    paper_table_files,
    read_paper_tables,
)
from nmtcore.config.planned_tables import (
    PlannedCell,
    PlannedClaim,
    PlannedColumn,
    PlannedMinus,
    PlannedRow,
    PlannedRuns,
    PlannedTable,
)
from nmtcore.config.project import Project
from nmtcore.config.published import FILTERED, PublishedCell, PublishedColumn, PublishedRow, PublishedTable, row_system
from nmtcore.config.recipes import ScaleSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.stand_ins import read_stand_ins, stand_in_files
from nmtcore.config.typed import choose, plain
from nmtcore.layout import PAPER
from nmtcore.planning.external import missing_seeds_sentence


@cache
def planned_table(project: Project, paper_table: str) -> PlannedTable:
    """Plan a table named PAPER_TABLE. Raises `UserError` if it or one of its systems is unknown."""
    paper, name = paper_and_table(project, paper_table)
    table = _Planner(project, _paper_tables(project, paper), name).planned()
    own = _function(table, "stand_ins")
    return replace(table, stand_ins=own(project, table)) if own else table


def paper_tables_of(project: Project, paper: str) -> list[str]:
    """List the tables of a paper, as PAPER_TABLE."""
    return [f"{paper}_{table}" for table in _paper_tables(project, paper).settings.tables]


def all_papers(project: Project) -> list[str]:
    """List the papers that have tables."""
    return sorted(paper_table_files(project))


def all_tables(project: Project) -> list[str]:
    """List the tables of all papers, as PAPER_TABLE."""
    return [table for paper in all_papers(project) for table in paper_tables_of(project, paper)]


def named_tables(project: Project, names: Iterable[str], *, where: str) -> list[str]:
    """List the tables with these names, each once; the name of a paper means all its tables.

    Raises `UserError` if there is neither a paper nor a table with a name.
    """
    papers = {paper: paper_tables_of(project, paper) for paper in all_papers(project)}
    valid = [*papers, *(table for tables in papers.values() for table in tables)]
    chosen = [choose(name, valid, noun="paper or table", where=where) for name in names]
    return list(dict.fromkeys(table for name in chosen for table in papers.get(name, [name])))


def paper_and_table(project: Project, paper_table: str, *, where: str = "the target") -> tuple[str, str]:
    """Split the name PAPER_TABLE. Raises `UserError` if the paper has no such table."""
    papers = [paper for paper in all_papers(project) if paper_table.startswith(f"{paper}_")]
    paper = max(papers, key=len, default="")
    choose(paper_table, paper_tables_of(project, paper) if paper else all_papers(project), noun="table", where=where)
    return paper, paper_table.removeprefix(f"{paper}_")


def paper_table_inputs(project: Project, *, paper_table: str) -> list[str]:
    """List the files that a table is made from, each once."""
    table = planned_table(project, paper_table)
    return list(dict.fromkeys(_function(table, "inputs")(project, table)))


def paper_table_notes(project: Project, *, paper_table: str) -> list[str]:
    """Write a sentence for each external system of a table that has no translations for some of its seeds."""
    return [
        missing_seeds_sentence(runs.dataset, runs.system, runs.missing)
        for runs in planned_table(project, paper_table).runs.values()
        if runs.missing
    ]


def paper_table_plan(project: Project, *, paper_table: str) -> dict[str, Any]:
    """Return the plan of a table as plain values, with what its kind needs from the configuration."""
    table = planned_table(project, paper_table)
    more = _function(table, "facts")
    more_facts = more(project, table) if more else {}
    measures = {table.measure(cell.metric): None for cell in table.cells if cell.metric}
    code = own_checksums("metrics", measures)
    if code:  # so that the table is made again if the user's own metric changes
        more_facts = {**more_facts, "own_metrics": code}
    return plain(replace(table, more=more_facts) if more_facts else table)


def table_settings(project: Project, paper_table: str) -> PaperTableSettings:
    """Return the settings of a table. Raises `UserError` if it is unknown."""
    paper, name = paper_and_table(project, paper_table)
    return _paper_tables(project, paper).settings.tables[name]


def run_files(project: Project, table: PlannedTable, file_type: str, **names: str) -> list[str]:
    """List a file of each run of a table."""
    return [
        project.layout.path(file_type, scale=table.scale, dataset=runs.dataset, system=runs.system, seed=seed, **names)
        for runs in table.runs.values()
        for seed in runs.seeds
    ]


def segment_score_files(project: Project, table: PlannedTable) -> list[str]:
    """List the stored scores of segments of all runs on the data sets whose cells are measured by them."""
    datasets = {cell.dataset for cell in table.cells if cell.runs and table.measure(cell.metric) in SEGMENT_MEASURES}
    measured = {key: runs for key, runs in table.runs.items() if runs.dataset in datasets}
    return run_files(project, replace(table, runs=measured), "comet_counts")


def _function(table: PlannedTable, purpose: str) -> Callable[[Project, PlannedTable], Any] | None:
    """Return the function KIND_PURPOSE of a table's kind; None if the kind has none."""
    module = import_module(f"nmtcore.planning.table_kinds.{table.table_kind}")
    return getattr(module, f"{table.table_kind}_{purpose}", None)


@cache
def _paper_tables(project: Project, paper: str) -> PaperTables:
    return read_paper_tables(project, paper)


@cache
def stand_ins_of(project: Project) -> Mapping[str, str] | None:
    """Return the data sets that stand in for the papers' at the configured scale; None: these are used themselves."""
    name = project.settings.stand_ins
    if name is None or project.settings.scale == PAPER:
        return None
    return read_stand_ins(project, name, where="config.yaml: stand_ins").datasets


@cache
def _datasets_with_stand_ins(project: Project) -> frozenset[str]:
    """Return the data sets of the papers: those that any choice of stand-ins names."""
    choices = [read_stand_ins(project, name, where="stand_ins") for name in stand_in_files(project)]
    return frozenset(dataset for choice in choices for dataset in choice.datasets)


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


@dataclass(kw_only=True)
class _Place:
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

    def planned(self) -> PlannedTable:
        """Plan the table."""
        published = self.spec.paper.tables[self.name]
        settings = self.spec.settings.tables[self.name]
        rows = self._rows(published, settings)
        columns = published.columns or (PublishedColumn(name="", dataset=published.dataset, split=published.split),)
        cells = tuple(self._cell(published, row, column) for row, _ in rows for column in columns)
        claims = tuple(self._claim(claim) for claim in table_claims(self.spec.paper, self.name))
        datasets = dict.fromkeys([*(runs.dataset for runs in self.runs.values()), *(cell.dataset for cell in cells)])
        return PlannedTable(
            paper=self.spec.name,
            name=self.name,
            table_kind=settings.kind,
            title=self.spec.paper.settings.title,
            place=published.place,
            description=published.description,
            scale=self.project.settings.scale,
            stand_ins=self.stand_ins,
            measures=self.spec.settings.measures,
            baselines=published.baselines,
            facts={**published.facts, **settings.facts},
            rows=tuple(planned for _, planned in rows),
            columns=tuple(_planned_column(published, column) for column in columns),
            cells=cells,
            runs=self.runs,
            evaluation={name: self._evaluation(name) for name in datasets if name is not None},
            claims=claims,
        )

    def _rows(self, published: PublishedTable, settings: PaperTableSettings) -> list[tuple[PublishedRow, PlannedRow]]:
        """Return the published rows, those that are added, and those behind means."""
        rows = [
            (row, PlannedRow(name=row.name, elsewhere=row.elsewhere, members=settings.groups.get(row.name, ())))
            for row in published.rows
        ]

        def add(names: tuple[str, ...], **flags: bool) -> None:
            known = {row.name for row, _ in rows}
            for name in dict.fromkeys(names):
                if name not in known:
                    row = PublishedRow(name=name, system=row_system(name), filtered=name.endswith(FILTERED))
                    rows.append((row, PlannedRow(name=name, **flags)))

        add(published.systems)
        add(settings.added, added=True)
        add(tuple(member for members in settings.groups.values() for member in members), hidden=True)
        return rows

    def _cell(self, table: PublishedTable, row: PublishedRow, column: PublishedColumn) -> PlannedCell:
        cell = table.cell_at(row, column)
        place = _Place() if row.elsewhere else self._place(cell.system, cell.dataset, cell.split)
        return PlannedCell(
            row=row.name,
            column=column.name,
            published=cell.value,
            marks=cell.marks,
            system=row.name if row.elsewhere else cell.system,
            runs=place.runs,
            baseline_runs=None if row.elsewhere else self._baseline_runs(table, cell, column),
            dataset=place.dataset,
            split=place.split,
            metric=cell.metric,
            item=cell.item,
            reason=place.reason,
        )

    def _baseline_runs(self, table: PublishedTable, cell: PublishedCell, column: PublishedColumn) -> str | None:
        if not table.baselines or cell.system in (None, table.baselines[0]) or self._is_other(table.baselines[0]):
            return None
        baseline = next((row for row in table.rows if row.name == table.baselines[0]), None)
        baseline = baseline or PublishedRow(name=table.baselines[0], system=row_system(table.baselines[0]))
        return self._place(baseline.system, table.trained_dataset(baseline, column), cell.split).runs

    def _place(self, system: str | None, dataset: str | None, split: str | None) -> _Place:
        """Find our data set, split and runs in place of a paper's; a system that is not ours has no runs."""
        if dataset is None:
            return _Place()
        ours, reason = our_dataset(self.project, dataset)
        if ours is None:
            return _Place(reason=reason)
        if ours != dataset:
            self.stand_ins[dataset] = ours
        our_test, reason = (None, "") if split is None else our_split(self.project.dataset(ours), split)
        if reason or system is None or self._is_other(system):
            return _Place(dataset=ours, split=our_test, reason=reason)
        runs = self._planned_runs(system, ours)
        if not runs.reason and our_test is not None and not self._has_outputs(runs, our_test):
            return _Place(dataset=ours, split=our_test, reason=f"{system} has no translations of {ours}, {our_test}")
        return _Place(
            runs=None if runs.reason else f"{ours}/{system}", dataset=ours, split=our_test, reason=runs.reason
        )

    def _is_other(self, system: str) -> bool:
        return system in self.spec.paper.settings.others

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
        return Path(self.project.layout.path("hypotheses", **names)).exists()

    def _evaluation(self, dataset: str) -> dict[str, Any]:
        settings = self.project.dataset(dataset).evaluation
        return {key: getattr(settings, key) for key in ("text", "tokenize", "lowercase")}

    def _claim(self, claim: Claim) -> PlannedClaim:
        values = {"claim": claim_to_json(claim)}
        system = self._place(claim.system.system, claim.system.dataset, claim.split)
        elsewhere = claim.baseline_from_elsewhere
        baseline = _Place() if elsewhere else self._place(claim.baseline.system, claim.baseline.dataset, claim.split)
        reason = system.reason or baseline.reason
        if elsewhere and not self._is_other(claim.baseline.system):
            reason = reason or f"{claim.baseline.system} is a result that the paper quotes from others"
        elif system.runs is None and not reason:
            reason = "the paper names no data set" if system.dataset is None else f"{claim.system.system} is no system"
        elif system.runs == baseline.runs:
            reason = reason or f"{system.dataset} stands in for both data sets, {_trained_on(claim)}"
        elif not elsewhere and system.split != baseline.split:
            reason = reason or f"{system.runs} is tested on {system.split}, and {baseline.runs} on {baseline.split}"
        minus, other_reason = self._minus(claim, (system.runs, baseline.runs))
        reason = reason or other_reason
        compared = (system.runs, baseline.runs, *((minus.system, minus.baseline) if minus else ()))
        # What decides nothing needs no control.
        controls = {} if reason else self._controls(claim, {system.runs: "system", baseline.runs: "baseline"})
        return PlannedClaim(
            **values,
            system=system.runs,
            baseline=baseline.runs,
            **controls,
            dataset=system.dataset,
            split=system.split,
            minus=minus,
            reason=reason,
            undecided="" if reason else self._undecided(compared),
        )

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

    def _minus(self, claim: Claim, compared: tuple[str | None, str | None]) -> tuple[PlannedMinus | None, str]:
        """Plan the gain that is subtracted from that between the `compared` runs; or None, and why there is none."""
        if claim.minus is None:
            return None, ""
        trained = (claim.minus.system, claim.minus.baseline)
        system, baseline = (self._place(own.system, own.dataset, claim.minus.split) for own in trained)
        for own, place in zip(trained, (system, baseline), strict=True):
            if place.runs is None or place.dataset is None or place.split is None:
                return None, place.reason or f"{own.system} is no system"
        if (system.runs, baseline.runs) == compared and claim.minus.item == claim.item:
            names = f"{claim.system.dataset} and {claim.minus.system.dataset}"
            return None, f"{system.dataset} stands in for both data sets, {names}"
        if system.runs == baseline.runs:
            return None, f"{system.runs} stands in for both systems of the gain that is subtracted"
        test = {"dataset": system.dataset, "split": system.split, "item": claim.minus.item}
        return PlannedMinus(system=system.runs, baseline=baseline.runs, **test), ""

    def _controls(self, claim: Claim, compared: Mapping[str | None, str]) -> dict[str, dict[str, str]]:
        """Return, by position, the runs of each control that is run, and why the others are not."""
        keys = ("controls", "control_baselines", "control_minus", "control_reasons")
        planned: dict[str, dict[str, str]] = {key: {} for key in keys}
        for position, control in enumerate(claim.controls):
            places = {"controls": self._place(control.system, control.dataset, claim.split)}
            if claim.baseline.system == claim.system.system:
                places["control_baselines"] = self._place(control.system, claim.baseline.dataset, claim.split)
            if claim.minus is not None and claim.minus.system.system == claim.system.system:
                other = claim.minus.system.dataset
                places["control_minus"] = self._place(control.system, other, claim.minus.split)
            first = places["controls"]
            reason = next((place.reason for place in places.values() if place.runs is None), "")
            if not reason and first.runs in compared:
                reason = f"on {first.dataset} it is the {compared[first.runs]} itself"
            if reason:
                planned["control_reasons"][str(position)] = reason
            else:
                for key, place in places.items():
                    planned[key][str(position)] = place.runs
        return planned


def _trained_on(claim: Claim) -> str:
    names: list[TrainedSystem] = [claim.system, claim.baseline]
    return " and ".join(dict.fromkeys(str(trained.dataset) for trained in names))


def _planned_column(table: PublishedTable, column: PublishedColumn) -> PlannedColumn:
    return PlannedColumn(
        name=column.name,
        dataset=column.dataset or table.dataset,
        split=column.split or table.split,
        metric=column.metric or table.metric,
        digits=table.digits(column.name),
    )


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
