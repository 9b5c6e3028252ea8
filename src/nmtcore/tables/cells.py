"""The records of tables: cells, what a paper prints there and what is measured here, their files, and claims."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property
from statistics import fmean
from typing import Annotated, Any, Literal, NamedTuple, get_args

from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.config.typed import Amount, Range, Seed, settings_class

Axis = Literal["system", "dataset", "split", "metric", "item"]
"""What a row, a column or a whole table can name; an item is a tag, a production, a subset of a test..."""

AXES: tuple[str, ...] = get_args(Axis)
"""All axes."""

Number = Annotated[float, Range(least=-1000, most=1e9)]
"""A score, a difference, a count..."""

Direction = Literal["gain", "loss", "no_gain", "none"]
"""What a paper claims about a system and a baseline, or about another number with a sign (`Comparison`)."""

Comparison = Literal["difference", "gains", "slope", "correlation"]
"""What a claim is about: a difference of two cells, a gain that is larger than another gain, the slope of the scores of
several systems over their places (layers, numbers of heads), or how two measures of several systems correlate."""

MARGIN = 1.0
"""Points of a metric (BLEU, chrF, percent) below which a gain counts as none, unless a claim names another margin."""


@settings_class
class Cell:
    """A number of a paper, and what is measured for it here. What does not apply is None.

    A row is a cell that names no column, and a column one that names no row.
    """

    row: str = ""
    """For example `depparse_l1@filtered`."""
    column: str = ""
    """For example `cs2en/test/bleu`."""
    system: str | None = None
    """The system, or the name of a row that is no system of ours (`gold`, `left`, "UDPipe 1.2")."""
    dataset: str | None = None
    """The paper's data set that the system is trained on; of a row or a column, the one that it names."""
    tested: str | None = None
    """The paper's data set whose test is meant."""
    split: str | None = None
    """The paper's split of this data set."""
    metric: str | None = None
    """The paper's metric."""
    item: str | None = None
    """A subset of the test, a tag, a production..."""
    published: Number | None = None
    """None: the paper has none."""
    marks: str = ""
    """The paper's marks of significance, keys of `MARKS`."""
    digits: Amount = 0
    """Of a column: decimals of the published numbers."""
    elsewhere: bool = False
    """Whether the paper quotes the row from others."""
    added: bool = False
    """Of a row or a column: whether the paper's table lacks it."""
    measure: str = ""
    """What the metric, or the gain in it, stands for here (`nmtcore.tables.measures`)."""
    ours: str | None = None
    """Our data set, which may stand in for the paper's."""
    test: str | None = None
    """Our split."""
    runs: str | None = None
    """Its runs, a key of `PlannedTable.runs`; None: it needs none, or `reason` says why there are none."""
    baseline_runs: str | None = None
    """The runs of the table's first baseline for the same test, where the cell's system is another."""
    reason: str = ""
    """Why nothing can be measured here."""
    source: dict[str, Any] = field(default_factory=dict)
    """What it is measured from: `files`, and what its measure needs to know."""

    @property
    def name(self) -> str:
        """The name of a row or of a column."""
        return self.row or self.column


def slope_weights(places: Sequence[float]) -> list[float]:
    """Return the weights of scores whose sum is the slope of the line of least squares over their places."""
    mean = fmean(places)
    squares = sum((place - mean) ** 2 for place in places)
    return [(place - mean) / squares for place in places]


def trained_name(cell: Cell, dataset: str | None) -> str | None:
    """Name the system of a claim's cell, with the data set that it is trained on if that is not `dataset`."""
    return cell.system if cell.dataset == dataset else f"{cell.system} on {cell.dataset}"


@settings_class
class Claim:
    """A comparison that a paper makes between two cells, and the controls that must not gain as well."""

    paper: str
    place: str
    """The table, figure or section of the paper."""
    says: str = ""
    """What the paper says, in our words; empty for a mark."""
    system: Cell
    baseline: Cell
    direction: Direction = "gain"
    difference: Number | None = None
    """The published difference, system minus baseline; None if it is not published or not in our copy."""
    compares: Comparison = "difference"
    terms: tuple[tuple[float, Cell], ...] = ()
    """Of gains and slopes: all cells, each with its weight in the sum that is judged."""
    pairs: tuple[tuple[Cell, Cell], ...] = ()
    """Of a correlation: the two cells of each system and data set."""
    level: float | None = None
    """The level of significance that the paper gives; None for a sentence."""
    margin: float = MARGIN
    """Of a claim that there is no gain: the points below which a gain counts as none."""
    controls: tuple[tuple[Cell, Cell], ...] = ()
    """Systems that lack what the gain is claimed to come from, each with the cell that it is compared with."""
    reason: str = ""
    """Why it cannot be decided."""
    undecided: str = ""
    """Why our difference does not decide it."""

    def cells(self) -> Iterator[Cell]:
        """Yield the cells that are compared, with those of the controls."""
        yield from (self.system, self.baseline)
        yield from (cell for _, cell in self.terms)
        for pair in (*self.pairs, *self.controls):
            yield from pair


@settings_class
class PlannedRuns:
    """A system on a data set, with the seeds that a table reads."""

    dataset: str
    """Our data set, which may be a stand-in."""
    system: str
    seeds: tuple[Seed, ...] = ()
    unfinished: tuple[Seed, ...] = ()
    """Seeds that are left out because their runs are not finished."""
    missing: tuple[Seed, ...] = ()
    """Seeds that an external system has no translations for."""
    reason: str = ""
    """Why there are no seeds."""
    provenance: str = ""
    """Where translations of an external system come from."""


@settings_class
class PlannedTable:
    """A table or figure: as its files say, or as planned, with what its cells are measured from."""

    paper: str
    name: str
    table_kind: str
    title: str
    """Authors, year and title of the paper."""
    place: str
    description: str
    scale: str = ""
    stand_ins: dict[str, str] = field(default_factory=dict)
    """The data sets in place of the paper's: {cs2en: demo_en2de}; none at paper scale."""
    baselines: tuple[str, ...] = ()
    """The rows that others are compared with."""
    compared_with: dict[str, str] = field(default_factory=dict)
    """The baseline of each system; empty: each is compared with all baselines."""
    facts: dict[str, Number] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    """What Markdown, LaTeX and figures print in place of names."""
    sentence: str = ""
    """Of a table of examples: the source sentence that it shows if the test has it."""
    rows: tuple[Cell, ...] = ()
    columns: tuple[Cell, ...] = ()
    cells: tuple[Cell, ...] = ()
    """A cell for each row and column, row by row."""
    runs: dict[str, PlannedRuns] = field(default_factory=dict)
    """The runs by DATASET/SYSTEM."""
    claims: tuple[Claim, ...] = ()
    code: dict[str, str] = field(default_factory=dict)
    """The checksums of metrics of the user's own, so that the table is made again if one changes."""

    def cell(self, row: str, column: str) -> Cell:
        """Return a cell. Raises `KeyError` if there is none."""
        return self._by_names[row, column]

    def is_compared(self, row: Cell, position: int) -> bool:
        """Return whether a row is compared with a baseline, given by its position."""
        if self.compared_with:
            return self.compared_with.get(row.system or "") == self.baselines[position]
        return row.name not in self.baselines[: position + 1]

    @cached_property
    def _by_names(self) -> dict[tuple[str, str], Cell]:
        return {(cell.row, cell.column): cell for cell in self.cells}


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
    table: str = ""
    """The table, as PAPER_TABLE."""

    @property
    def run(self) -> RunSettings:
        """The settings of the first seed. Raises `Unmeasurable` if there are no runs."""
        if self.runs is None:
            raise Unmeasurable(self.cell.reason)
        return self.project.run(self.runs.dataset, self.runs.system, self.project.settings.scale, self.runs.seeds[0])

    @property
    def test(self) -> str:
        """Our split; of a cell that names none, the main test."""
        return self.cell.test or self.project.dataset(self.cell.ours).main_test

    def by_seed(self, file_type: str, *, first: bool = False, **names: str) -> dict[str, str]:
        """Return a file of each seed, or of the first one."""
        names |= {"scale": self.project.settings.scale, "dataset": self.runs.dataset, "system": self.runs.system}
        seeds = self.runs.seeds[:1] if first else self.runs.seeds
        return {str(seed): self.project.layout.path(file_type, **names, seed=seed) for seed in seeds}

    def made_by_models(self, file_type: str, *, first: bool = False, **names: str) -> dict[str, str]:
        """Return a file of each seed, or of the first one, that a model makes.

        Raises `Unmeasurable` if neither it nor the model was kept, and nothing is trained (`unfinished_runs`).
        """
        files = self.by_seed(file_type, first=first, **names)
        leave_out = self.project.settings.unfinished_runs == "leave_out" and self.run.is_trained
        kept = (os.path.exists(path) or os.path.exists(self.by_seed("model")[seed]) for seed, path in files.items())
        if leave_out and not all(kept):
            raise Unmeasurable("neither its model nor what is measured of it was kept (unfinished_runs: leave_out)")
        return files

    def path(self, file_type: str, **names: str) -> str:
        """Return a file of the cell's data set."""
        return self.project.layout.path(file_type, dataset=self.cell.ours, **names)


def source_paths(value: Any) -> list[str]:
    """List the paths in the `files` of a source."""
    if isinstance(value, dict):
        return [path for inner in value.values() for path in source_paths(inner)]
    return [] if value is None else [value]
