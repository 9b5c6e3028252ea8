"""The numbers that papers publish, from `config/published/PAPER.yaml`, as tables whose cells say what they measure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Literal, NamedTuple

from nmtcore.config.catalogue import Catalogue
from nmtcore.config.cells import AXES, Axis, GridCell, GridLine, Number
from nmtcore.config.files import named_files
from nmtcore.config.ranges import Positive, settings_class
from nmtcore.config.typed import build, choose
from nmtcore.config.yaml_files import read_yaml
from nmtcore.errors import UserError

MARKS = {"d": (0, 0.05), "D": (0, 0.01), "v": (1, 0.05), "V": (1, 0.01)}
"""Marks of significance: the position of the baseline in `baselines`, and the level."""

FILTERED = "@filtered"
"""Ending of a row whose system was trained on the data set NAME_filtered."""

Direction = Literal["gain", "loss", "no_gain"]
"""What a paper claims about a system and a baseline."""

MARGIN = 1.0
"""Points of a metric (BLEU, chrF, percent) below which a gain counts as none, unless a claim names another margin."""

Numbers = Number | tuple[Number, ...] | None
"""A cell of a file: a number, one number per metric of its column, or nothing."""


@settings_class
class ClaimSettings:
    """A sentence of a paper that compares systems: a claim per system (or item), baseline and column."""

    says: str
    """What the paper says, in our words."""
    systems: tuple[str, ...] = ()
    """Rows that are compared; none: the table's `system`."""
    baselines: tuple[str, ...] = ()
    """Rows that they are compared with; none: the table's first baseline."""
    columns: tuple[str, ...] = ()
    """Columns in which they are compared; none: all."""
    baseline_columns: tuple[str, ...] = ()
    """Of a claim about what systems are trained on: the baselines' columns, one for each of `columns`, with the same
    split and metric of another data set; without `baselines`, each system is compared with itself."""
    items: tuple[str, ...] = ()
    """Subsets of the test on which they are compared; none: the whole test."""
    direction: Direction = "gain"
    """gain: the system is better; loss: worse; no_gain: not better, or not by much."""
    margin: Positive = MARGIN
    """Of no_gain: the points of the metric below which a gain counts as none."""
    difference: Number | str | None = None
    """The published difference, or the fact that is the difference; null: that of the table's cells."""
    controls: tuple[str, ...] | None = None
    """Systems that gain without what is claimed to bring the gain; null: those of the paper's `controls` or, where that
    has none, what the system's entry is `compared_with`. They take the place of the system, also where that is the
    baseline."""

    def __post_init__(self) -> None:
        if self.direction != "no_gain" and self.margin != MARGIN:
            raise ValueError(f"margin concerns the direction no_gain only, not {self.direction}")


@settings_class
class PublishedTableSettings:
    """A table or figure of a paper, as in its file."""

    place: str = ""
    """Where it is in the paper; by default its name (`table_6_1` is Table 6.1)."""
    description: str = ""
    """What it shows, and what differs from its caption."""
    row: Axis = "system"
    """What its rows name; an item is a tag, a production, a subset of a test..."""
    column: str = "dataset/split/metric"
    """What its columns name, with slashes. A column with two metrics, `uas+las`, has pairs of numbers."""
    system: str | None = None
    """The system of all cells."""
    dataset: str | None = None
    """The data set of all cells."""
    split: str | None = None
    """The split of all cells."""
    metric: str | None = None
    """The metric of all cells."""
    systems: tuple[str, ...] = ()
    """Systems that it shows without numbers."""
    baselines: tuple[str, ...] = ()
    """Rows that others are compared with: marks d and D refer to the first, v and V to the second."""
    columns: tuple[str, ...] = ()
    """The columns."""
    rows: dict[str, tuple[Numbers, ...]] = field(default_factory=dict)
    """The rows, one value per column; null: the paper has none."""
    rows_from_elsewhere: dict[str, tuple[Numbers, ...]] = field(default_factory=dict)
    """Rows of systems that the paper quotes from others."""
    trained_on: dict[str, dict[str, str]] = field(default_factory=dict)
    """Rows whose system was trained on another data set than the column's: {row: {data set: other data set}}."""
    marks: dict[str, dict[str, str]] = field(default_factory=dict)
    """Marks of significance: {column: {row: "DV"}}."""
    facts: dict[str, Number] = field(default_factory=dict)
    """Numbers that belong to no cell."""
    claims: tuple[ClaimSettings, ...] = ()
    """What the paper says about it."""


@settings_class
class PaperSettings:
    """The tables and figures of a paper, as in its file."""

    title: str
    """Authors, year and title."""
    others: dict[str, str] = field(default_factory=dict)
    """Rows that are no systems of the project, and what they are."""
    controls: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Systems that gain without what a system is claimed to gain by: {system: controls}."""
    assumed: dict[str, str] = field(default_factory=dict)
    """What the paper leaves open about its tables, and why it is so here. Changes no run."""
    tables: dict[str, PublishedTableSettings]
    """The tables and figures by name."""


class PublishedTable(NamedTuple):
    """A published table or figure."""

    name: str
    settings: PublishedTableSettings
    place: str
    rows: tuple[GridLine, ...] = ()
    columns: tuple[GridLine, ...] = ()
    cells: Mapping[tuple[str, str], GridCell] = {}
    """The numbers by the names of row and column; a cell without a number is left out."""

    def value(self, row: str, column: str) -> float | None:
        """Return the number of a cell; None if the paper has none."""
        cell = self.cells.get((row, column))
        return None if cell is None else cell.published

    def cell_at(self, row: GridLine, column: GridLine) -> GridCell:
        """Return a cell, or what a cell without a number would measure."""
        known = self.cells.get((row.name, column.name))
        return known or _cell(self, row, column, None, marks="")

    def digits(self, column: str) -> int:
        """Return the number of decimals with which the paper prints a column."""
        values = [
            cell.published for (_, name), cell in self.cells.items() if name == column and cell.published is not None
        ]
        return max((len(f"{value:.10f}".rstrip("0").partition(".")[2]) for value in values), default=0)

    def trained_dataset(self, row: GridLine, column: GridLine) -> str | None:
        """Return the data set that a row's system was trained on in a column."""
        dataset = row.dataset or column.dataset or self.settings.dataset
        if dataset is None:
            return None
        return self.settings.trained_on.get(row.name, {}).get(
            dataset, f"{dataset}_filtered" if row.filtered else dataset
        )


class Paper(NamedTuple):
    """A paper's published tables."""

    name: str
    path: Path
    settings: PaperSettings
    tables: Mapping[str, PublishedTable]
    compared_with: Mapping[str, str | None] = {}
    """What its systems are compared with: the controls of those that `settings.controls` has none for."""

    @property
    def systems(self) -> list[str]:
        """The names of systems in rows, columns, figures and claims, each once, without those from elsewhere."""
        names: dict[str, None] = {}
        for table in self.tables.values():
            settings = table.settings
            named = [settings.system, *settings.systems, *(column.system for column in table.columns)]
            named += [row.system for row in table.rows if not row.elsewhere]
            for claim in settings.claims:
                elsewhere = settings.rows_from_elsewhere
                named += [row_system(row) for row in _claimed_rows(claim) if row not in elsewhere]
                named += claim.controls or ()
            names |= dict.fromkeys(filter(None, named))
        for system, controls in self.settings.controls.items():
            names |= dict.fromkeys((system, *controls))
        return [name for name in names if name not in self.settings.others]


def paper_names(catalogue: Catalogue) -> list[str]:
    """Return the names of the papers in a configuration, sorted."""
    return sorted(named_files(catalogue.folders, "published", noun="paper"))


def read_paper(catalogue: Catalogue, name: str, *, where: str = "the target") -> Paper:
    """Read the published tables of a paper.

    Raises:
        UserError: if there is no such paper; if a row does not have one value per column, a pair has another length
            than its column's metrics, or a mark, a baseline or a claim names no row, no column or no fact; or if a
            system, a data set or a split does not exist in the configuration. The message names file, table and row.
    """
    files = named_files(catalogue.folders, "published", noun="paper")
    files.check(name, where=where)
    path = files[name]
    settings = build(PaperSettings, read_yaml(path), where=str(path))
    return make_paper(catalogue, name, path, settings)


def make_paper(catalogue: Catalogue, name: str, path: Path, settings: PaperSettings) -> Paper:
    """Make the tables of a paper from the settings in a file, and check them as `read_paper` does."""
    tables = {
        table: _resolve(table, values, where=f"{path}: tables.{table}") for table, values in settings.tables.items()
    }
    paper = Paper(name=name, path=path, settings=settings, tables=tables)
    _check_names(paper, catalogue)
    return paper._replace(compared_with={name: catalogue.compared_with(name) for name in paper.systems})


def row_system(row: str) -> str:
    """Return the system of a row."""
    return row.removesuffix(FILTERED)


def place_of(table: str) -> str:
    """Return where a table or figure is, by its name: `table_b_1` is Table B.1."""
    noun, _, number = table.partition("_")
    number = ".".join(part.upper() if part.isalpha() else part for part in number.split("_"))
    return f"{noun.capitalize()} {number}" if noun in ("table", "figure") else table.replace("_", " ")


def _resolve(name: str, settings: PublishedTableSettings, *, where: str) -> PublishedTable:
    _check_axes(settings, where=where)
    columns = [_columns(column, settings, where=where) for column in settings.columns]
    quoted = [GridLine(name=name, elsewhere=True) for name in settings.rows_from_elsewhere]
    table = PublishedTable(
        name=name,
        settings=settings,
        place=settings.place or place_of(name),
        rows=(*(_row(row, settings) for row in settings.rows), *quoted),
        columns=tuple(column for group in columns for column in group),
    )
    _check_rows(table, where=where)
    values = [*settings.rows.values(), *settings.rows_from_elsewhere.values()]
    cells = [
        _cell(table, row, column, value, marks=settings.marks.get(column.name, {}).get(row.name, ""))
        for row, numbers in zip(table.rows, values, strict=True)
        for group, number in zip(columns, _checked(row.name, numbers, columns, where=where), strict=True)
        for column, value in zip(group, number, strict=True)
        if value is not None
    ]
    return table._replace(cells={(cell.row, cell.column): cell for cell in cells})


def _check_axes(settings: PublishedTableSettings, *, where: str) -> None:
    """Check that rows, columns and the table name different things."""
    named = [settings.row, *settings.column.split("/")]
    for axis in named[1:]:
        choose(axis, AXES, noun="axis", where=f"{where}: column")
    fixed = [axis for axis in AXES[:-1] if getattr(settings, axis) is not None]
    if settings.rows and len({*named, *fixed}) < len(named) + len(fixed):
        raise UserError(f"{where}: {', '.join(named + fixed)}: rows, columns and table must name different things.")


def _columns(name: str, settings: PublishedTableSettings, *, where: str) -> list[GridLine]:
    """Return the columns of a column's metrics."""
    axes, parts = settings.column.split("/"), name.split("/")
    if len(axes) != len(parts):
        raise UserError(f"{where}: columns: '{name}' does not have the form {settings.column}.")
    named = dict(zip(axes, parts, strict=True))
    metrics = named.pop("metric", "").split("+")
    prefix = "/".join(part for axis, part in zip(axes, parts, strict=True) if axis != "metric")
    if "metric" not in axes:
        return [GridLine(name=name, **named)]
    return [GridLine(name="/".join(filter(None, (prefix, metric))), metric=metric, **named) for metric in metrics]


def _row(name: str, settings: PublishedTableSettings) -> GridLine:
    filtered = settings.row == "system" and name.endswith(FILTERED)
    return GridLine(name=name, filtered=filtered, **{settings.row: row_system(name) if filtered else name})


def _checked(
    row: str, numbers: Sequence[Numbers], columns: Sequence[Sequence[GridLine]], *, where: str
) -> Iterator[tuple[float | None, ...]]:
    """Yield the numbers of each column of a row, one per metric."""
    if len(numbers) != len(columns):
        raise UserError(f"{where}: {row}: {len(numbers)} values for {len(columns)} columns.")
    for number, group in zip(numbers, columns, strict=True):
        parts = number if isinstance(number, tuple) else (number,) if number is not None else (None,) * len(group)
        if len(parts) != len(group):
            name = group[0].name
            raise UserError(f"{where}: {row}: {len(parts)} numbers for the {len(group)} metrics of {name}.")
        yield parts


def _cell(table: PublishedTable, row: GridLine, column: GridLine, value: float | None, *, marks: str) -> GridCell:
    def named(axis: str) -> str | None:
        return getattr(row, axis) or getattr(column, axis) or getattr(table.settings, axis, None)

    return GridCell(
        row=row.name,
        column=column.name,
        published=value,
        marks=marks,
        system=named("system"),
        dataset=table.trained_dataset(row, column),
        split=named("split"),
        metric=named("metric"),
        item=named("item"),
    )


def _check_rows(table: PublishedTable, *, where: str) -> None:
    """Check that baselines, marks, other data sets and claims name rows and columns."""
    settings, columns = table.settings, {column.name: column for column in table.columns}
    rows = [row.name for row in table.rows]
    if both := settings.rows.keys() & settings.rows_from_elsewhere.keys():
        raise UserError(f"{where}: {', '.join(sorted(both))}: in rows and in rows_from_elsewhere.")
    for column, by_row in settings.marks.items():
        choose(column, columns, noun="column", where=f"{where}: marks")
        for row, marks in by_row.items():
            choose(row, rows, noun="row", where=f"{where}: marks: {column}")
            for mark in marks:
                choose(mark, MARKS, noun="mark", where=f"{where}: marks: {column}: {row}")
                if MARKS[mark][0] >= len(settings.baselines):
                    raise UserError(f"{where}: marks: {column}: {row}: there is no baseline for the mark {mark}.")
    if settings.rows and settings.row == "system":
        claimed = [row for claim in settings.claims for row in _claimed_rows(claim)]
        for key, named in (("baselines", settings.baselines), ("trained_on", settings.trained_on), ("claims", claimed)):
            for row in named:
                choose(row, rows, noun="row", where=f"{where}: {key}")
    for claim in settings.claims:
        for column in (*claim.columns, *claim.baseline_columns):
            choose(column, columns, noun="column", where=f"{where}: claims")
        _check_second_columns(claim, columns, where=f"{where}: claims")
        if isinstance(claim.difference, str):
            choose(claim.difference, settings.facts, noun="fact", where=f"{where}: claims")
        baselines = claim.baselines or claim.baseline_columns or settings.baselines
        if not (claim.systems or settings.system) or not baselines:
            raise UserError(f"{where}: claims: '{claim.says}' lacks a system or a baseline.")


def _claimed_rows(claim: ClaimSettings) -> list[str]:
    """List the rows that a claim names."""
    return [*claim.systems, *claim.baselines]


def _check_second_columns(claim: ClaimSettings, columns: Mapping[str, GridLine], *, where: str) -> None:
    """Check that the columns of baselines have scores that can be compared."""
    if not claim.baseline_columns:
        return
    where = f"{where}: '{claim.says}'"
    if claim.items:
        raise UserError(f"{where}: `items` cannot have `baseline_columns`.")
    if len(claim.baseline_columns) != len(claim.columns):
        raise UserError(f"{where}: {len(claim.baseline_columns)} baseline_columns for {len(claim.columns)} columns.")
    for pair in zip(claim.columns, claim.baseline_columns, strict=True):
        column, other = (columns[name] for name in pair)
        same = (column.split, column.metric, column.item) == (other.split, other.metric, other.item)
        if column.dataset == other.dataset or not same:
            raise UserError(f"{where}: {other.name} is not the column {column.name} of another data set.")


def _check_names(paper: Paper, catalogue: Catalogue) -> None:
    """Check that the configuration has the systems, data sets and splits."""
    for system in paper.systems:
        catalogue.systems.check(system, where=str(paper.path))
    for name, table in paper.tables.items():
        where = f"{paper.path}: tables.{name}"
        places = [(cell.dataset, cell.split) for cell in table.cells.values()]
        places += [(column.dataset, column.split) for column in table.columns]
        places += [
            (dataset, None) for by_dataset in table.settings.trained_on.values() for dataset in by_dataset.values()
        ]
        for dataset, split in dict.fromkeys([*places, (table.settings.dataset, table.settings.split)]):
            if dataset is not None:
                splits = catalogue.dataset(dataset, where=where).splits
                if split is not None:
                    choose(split, splits, noun="split", where=f"{where}: {dataset}")
