"""The tables of papers and of the user's own, read from their files: rows, columns, cells and claims."""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.config.catalogue import Catalogue
from nmtcore.config.files import NamedFiles, named_files
from nmtcore.config.own_code import own_names
from nmtcore.config.typed import build, choose
from nmtcore.config.yaml_files import read_yaml
from nmtcore.errors import UserError
from nmtcore.tables.cells import AXES, Cell, Claim, PlannedTable
from nmtcore.tables.kinds import KINDS
from nmtcore.tables.measures import MEASURES
from nmtcore.tables.settings import (
    ClaimSettings,
    PaperSettings,
    PaperTableSettings,
    PaperTablesSettings,
    PublishedTableSettings,
)

MARKS = {"d": (0, 0.05), "D": (0, 0.01), "v": (1, 0.05), "V": (1, 0.01)}
"""Marks of significance: the position of the baseline in `baselines`, and the level."""

FILTERED = "@filtered"
"""Ending of a row whose system was trained on the data set NAME_filtered."""

GAIN = "_gain"
"""Ending of a metric that is the difference from the baseline."""

_TABLE_NAME = "[a-z0-9]+(?:_[a-z0-9]+)*"


class Paper(NamedTuple):
    """The tables of a paper, published or the user's own."""

    name: str
    path: Path
    settings: PaperSettings
    tables: Mapping[str, PlannedTable]
    """The tables by name, not yet planned."""
    seeds: Mapping[str, tuple[int, ...]] = {}
    """Systems that are run with other seeds than those of config.yaml, at scales with `verdicts`."""

    @property
    def systems(self) -> list[str]:
        """The names of systems in cells, claims and controls, each once, without those from elsewhere."""
        names: dict[str, None] = {}
        for table in self.tables.values():
            cells = (*table.cells, *(cell for claim in table.claims for cell in claim.cells()))
            names |= dict.fromkeys(cell.system for cell in cells if cell.system and not cell.elsewhere)
        for system, controls in self.settings.controls.items():
            names |= dict.fromkeys((system, *controls))
        return [name for name in names if name not in self.settings.others]


def paper_files(catalogue: Catalogue) -> NamedFiles:
    """Return the files of `tables/` by name."""
    return named_files(catalogue.folders, "tables", noun="paper")


def read_paper(catalogue: Catalogue, name: str, *, where: str = "the target") -> Paper:
    """Read the tables of a file of `tables/`, with the published numbers if the paper has some.

    Raises:
        UserError: if there is no such file, or if it lacks a published table; if a row does not have one value per
            column, a pair has another length than its column's metrics, or a mark, a baseline or a claim names no row,
            no column or no fact; or if a system, a data set or a split does not exist in the configuration. The message
            names file, table and row.
    """
    files, published_files = paper_files(catalogue), named_files(catalogue.folders, "published", noun="paper")
    files.check(name, where=where)
    path, published_path = files[name], published_files.get(name)
    shown = build(PaperTablesSettings, read_yaml(path), where=str(path))
    published = None
    if published_path is not None:
        published = build(PaperSettings, read_yaml(published_path), where=str(published_path))
        if missing := published.tables.keys() - shown.tables.keys():
            raise UserError(f"{path}: tables lacks {', '.join(sorted(missing))}, which {published_path} has.")
    known = published.tables if published else {}
    _check_shown(catalogue, shown, known, path)
    own = {table: _own_table(values) for table, values in shown.tables.items() if table not in known}
    title = published.title if published else shown.title or name
    paper = make_paper(catalogue, name, path, PaperSettings(title=title, controls=shown.controls, tables=own), shown)
    if published:
        theirs = make_paper(catalogue, name, published_path, published, shown)
        both = {**theirs.tables, **paper.tables}
        paper = theirs._replace(tables={table: both[table] for table in shown.tables})
    for system in shown.seeds:
        choose(system, paper.systems, noun="system of its tables", where=f"{path}: seeds")
    return paper


def make_paper(
    catalogue: Catalogue, name: str, path: Path, settings: PaperSettings, shown: PaperTablesSettings
) -> Paper:
    """Make the tables of a paper from the settings in a file, and check them as `read_paper` does."""
    tables = {
        table: _Reader(catalogue, name, settings, table, shown.tables[table], shown.measures).table(
            f"{path}: tables.{table}"
        )
        for table in settings.tables
    }
    paper = Paper(name=name, path=path, settings=settings, tables=tables, seeds=shown.seeds)
    _check_names(paper, catalogue)
    return paper


def row_system(row: str) -> str:
    """Return the system of a row."""
    return row.removesuffix(FILTERED)


def place_of(table: str) -> str:
    """Return where a table or figure is, by its name: `table_b_1` is Table B.1."""
    noun, _, number = table.partition("_")
    number = ".".join(part.upper() if part.isalpha() else part for part in number.split("_"))
    return f"{noun.capitalize()} {number}" if noun in ("table", "figure") else table.replace("_", " ")


def cell_without_number(row: str, column: Cell) -> Cell:
    """Return the cell of a system in a column of a table that lacks its row."""
    return replace(column, row=row, system=row_system(row), tested=column.dataset, digits=0)


@dataclass(frozen=True)
class _Reader:
    """Reads a table from the settings in its files."""

    catalogue: Catalogue
    paper: str
    settings: PaperSettings
    name: str
    shown: PaperTableSettings
    measures: Mapping[str, str]
    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)

    @property
    def grid(self) -> PublishedTableSettings:
        """The settings of the table."""
        return self.settings.tables[self.name]

    @property
    def place(self) -> str:
        """Where the table is in the paper."""
        return self.grid.place or place_of(self.name)

    def table(self, where: str) -> PlannedTable:
        """Make the table: a cell for each row and column, and the claims."""
        grid, shown = self.grid, self.shown
        _check_axes(grid, where=where)
        groups = [self._columns(column, where=where) for column in grid.columns]
        columns = [column for group in groups for column in group]
        rows = [_row(row, grid.row) for row in grid.rows]
        rows += [Cell(row=row, elsewhere=True) for row in grid.rows_from_elsewhere]
        _check_rows(grid, rows, columns, where=where)
        numbers = _numbers(grid, groups, where=where)
        columns = columns or [self._column("", {})]
        known = {row.row for row in rows}
        for row in dict.fromkeys((*grid.systems, *shown.added)):
            if row not in known:
                rows.append(Cell(row=row, system=row_system(row), added=row not in grid.systems))
        for row, column in product(rows, columns):
            key = (row.row, column.column)
            marks = grid.marks.get(column.column, {}).get(row.row, "")
            self.cells[key] = replace(self._cell(row, column), published=numbers.get(key), marks=marks)
        compared = self._compared_with(columns if shown.kind == "constructions" else rows)
        return PlannedTable(
            paper=self.paper,
            name=self.name,
            table_kind=shown.kind,
            title=self.settings.title,
            place=self.place,
            description=grid.description,
            baselines=grid.baselines or tuple(dict.fromkeys(compared.values())),
            compared_with=compared,
            facts={**grid.facts, **shown.facts},
            sentence=shown.sentence,
            rows=tuple(rows),
            columns=tuple(replace(column, digits=self._digits(column)) for column in columns),
            cells=tuple(self.cells.values()),
            claims=(*self._marked(columns), *self._said(columns)),
        )

    def _compared_with(self, lines: Sequence[Cell]) -> dict[str, str]:
        """Return what each system of one's own table is compared with, if that is in the table, too.

        That is nothing if the table names its baselines.
        """
        is_own = self.shown.rows or not self.paper
        if self.grid.baselines or not KINDS[self.shown.kind].compares or not is_own:
            return {}
        systems = [line.system for line in lines if line.system and not line.added]
        compared = {name: self.catalogue.compared_with(name) for name in systems}
        # The columns of a table of constructions are the systems without what they are compared with.
        present = compared.values() if self.shown.kind == "constructions" else systems
        return {name: other for name, other in compared.items() if other is not None and other in present}

    def _columns(self, name: str, *, where: str) -> list[Cell]:
        """Return the columns of a column's metrics."""
        axes, parts = self.grid.column.split("/"), name.split("/")
        if len(axes) != len(parts):
            raise UserError(f"{where}: columns: '{name}' does not have the form {self.grid.column}.")
        named = dict(zip(axes, parts, strict=True))
        if "metric" not in named:
            return [self._column(name, named)]
        metrics = named.pop("metric").split("+")
        prefix = "/".join(part for axis, part in zip(axes, parts, strict=True) if axis != "metric")
        return [
            self._column("/".join(filter(None, (prefix, metric))), {**named, "metric": metric}) for metric in metrics
        ]

    def _column(self, name: str, named: Mapping[str, str]) -> Cell:
        """Return a column, with the data set, split and metric of the table where it does not name others."""
        of_table = {axis: getattr(self.grid, axis) for axis in ("dataset", "split", "metric")}
        column = Cell(column=name, **{**of_table, **named})
        return replace(column, measure=self._measure(column.metric))

    def _measure(self, metric: str | None) -> str:
        name = (metric or "").removesuffix(GAIN)
        return self.measures.get(name, name)

    def _cell(self, row: Cell, column: Cell) -> Cell:
        """Return the cell of a row and a column, or what it would measure."""
        named = {axis: getattr(row, axis) or getattr(column, axis) or getattr(self.grid, axis, None) for axis in AXES}
        tested = named.pop("dataset")
        filtered = row.system is not None and row.row.endswith(FILTERED)
        by_dataset = self.grid.trained_on.get(row.row, {})
        trained = tested and by_dataset.get(tested, f"{tested}_filtered" if filtered else tested)
        measure = self._measure(named["metric"])
        cell = Cell(row=row.row, column=column.column, dataset=trained, tested=tested, measure=measure, **named)
        return replace(cell, system=row.row, elsewhere=True) if row.elsewhere else cell

    def _digits(self, column: Cell) -> int:
        """Return the number of decimals with which the paper prints a column."""
        values = [cell.published for (_, name), cell in self.cells.items() if name == column.column]
        return max(
            (len(f"{value:.10f}".rstrip("0").partition(".")[2]) for value in values if value is not None), default=0
        )

    def _marked(self, columns: Sequence[Cell]) -> Iterator[Claim]:
        """Yield a claim per mark."""
        for column in columns:
            for cell in [own for own in self.cells.values() if own.column == column.column]:
                for mark in cell.marks:
                    position, level = MARKS[mark]
                    baseline = self._claimed(self.grid.baselines[position], column, None)
                    yield self._claim(replace(cell, item=None), baseline, level=level)

    def _said(self, columns: Sequence[Cell]) -> Iterator[Claim]:
        """Yield the claims of sentences: one per system, baseline, column and item."""
        by_name = {column.column: column for column in columns}
        for sentence in self.grid.claims:
            named = sentence.columns or tuple(by_name)
            pairs = list(zip(named, sentence.baseline_columns or named, strict=True))
            # Without `baselines`, each system is compared with itself in the other column.
            itself = bool(sentence.baseline_columns and not sentence.baselines)
            baselines = (None,) if itself else sentence.baselines or self.grid.baselines[:1]
            systems = sentence.systems or (self.grid.system or "",)
            stated = sentence.difference
            stated = self.grid.facts[stated] if isinstance(stated, str) else stated
            says = {key: getattr(sentence, key) for key in ("says", "direction", "margin")}
            for row, baseline, pair, item in product(systems, baselines, pairs, sentence.items or (None,)):
                column, other = (by_name[name] for name in pair)
                system, against = self._claimed(row, column, item), self._claimed(baseline or row, other, item)
                gain = self.cells.get((item or "", column.column))
                difference = gain.published if gain and stated is None else stated
                yield self._claim(system, against, difference=difference, controls=sentence.controls, **says)

    def _claimed(self, row: str, column: Cell, item: str | None) -> Cell:
        """Return the cell of a claim, also of a system that has no row."""
        known = self.cells.get((row, column.column))
        return replace(known or self._cell(Cell(row=row, system=row_system(row)), column), item=item)

    def _claim(
        self,
        system: Cell,
        baseline: Cell,
        *,
        difference: float | None = None,
        controls: Sequence[str] | None = None,
        **more: Any,
    ) -> Claim:
        """Make a claim about two cells; by default, the difference is theirs, and the controls are `_controls`."""
        if difference is None and system.item is None and None not in (system.published, baseline.published):
            difference = round(system.published - baseline.published, 10)
        if controls is None:
            controls = self._controls(system.system or "")
        compared = {(own.system, own.dataset) for own in (system, baseline)}
        names = [name for name in controls if (name, system.dataset) not in compared]
        itself = baseline.system == system.system
        pairs = ((_of(name, system), _of(name, baseline) if itself else baseline) for name in names)
        return Claim(
            paper=self.paper,
            place=self.place,
            system=system,
            baseline=baseline,
            difference=difference,
            controls=tuple(pairs),
            **more,
        )

    def _controls(self, system: str) -> Sequence[str]:
        """Return the paper's controls of a system or, if it names none, what the system's entry is compared with."""
        if system in self.settings.controls:
            return self.settings.controls[system]
        other = self.catalogue.compared_with(system) if system in self.catalogue.systems else None
        return () if other is None else (other,)


def _of(control: str, cell: Cell) -> Cell:
    """Return what a cell of a claim would be of a control."""
    return replace(cell, row=control, system=control, published=None, marks="")


def _row(name: str, axis: str) -> Cell:
    return Cell(row=name, **{axis: row_system(name) if axis == "system" else name})


def _numbers(
    grid: PublishedTableSettings, columns: Sequence[Sequence[Cell]], *, where: str
) -> dict[tuple[str, str], float | None]:
    """Return the numbers by row and column. Raises `UserError` if a row has not one for each metric of a column."""
    numbers: dict[tuple[str, str], float | None] = {}
    for row, values in {**grid.rows, **grid.rows_from_elsewhere}.items():
        if len(values) != len(columns):
            raise UserError(f"{where}: {row}: {len(values)} values for {len(columns)} columns.")
        for value, group in zip(values, columns, strict=True):
            parts = (None,) * len(group) if value is None else value if isinstance(value, tuple) else (value,)
            if len(parts) != len(group):
                name = group[0].column
                raise UserError(f"{where}: {row}: {len(parts)} numbers for the {len(group)} metrics of {name}.")
            numbers |= {(row, column.column): part for column, part in zip(group, parts, strict=True)}
    return numbers


def _own_table(settings: PaperTableSettings) -> PublishedTableSettings:
    """Return a table of the user's own as a published one without numbers."""
    shared = {key: getattr(settings, key) for key in ("place", "description", "baselines", "columns", "claims")}
    return PublishedTableSettings(rows={row: (None,) * len(settings.columns) for row in settings.rows}, **shared)


def _check_shown(catalogue: Catalogue, shown: PaperTablesSettings, published: Container[str], path: Path) -> None:
    """Check the names of own tables, their rows, and that their columns have scores that can be computed."""
    measures = [*MEASURES, *own_names("metrics")]
    for metric, measure in shown.measures.items():
        choose(measure, measures, noun="measure", where=f"{path}: measures.{metric}")
    for name, table in shown.tables.items():
        where = f"{path}: tables.{name}"
        if not re.fullmatch(_TABLE_NAME, name):
            raise UserError(f"{path}: tables: '{name}': a name has small letters, digits and single underscores.")
        if name in published and (table.rows or table.columns):
            raise UserError(f"{where}: the published table has rows and columns: leave them out here.")
        if table.rows and not table.columns:
            raise UserError(f"{where}: name the `columns` that the rows have, DATASET/SPLIT/METRIC.")
        for column in table.columns if KINDS[table.kind].is_grid else ():
            metric = column.rpartition("/")[2]
            if column.count("/") == 2 and metric not in shown.measures:
                choose(metric, measures, noun="metric", where=f"{where}: columns: {column}")
        for row in table.rows:  # before baselines and claims, which name rows
            catalogue.systems.check(row_system(row), where=f"{where}: rows")
        for row in table.added:
            catalogue.systems.check(row_system(row), where=where)


def _check_axes(grid: PublishedTableSettings, *, where: str) -> None:
    """Check that rows, columns and the table name different things."""
    named = [grid.row, *grid.column.split("/")]
    for axis in named[1:]:
        choose(axis, AXES, noun="axis", where=f"{where}: column")
    fixed = [axis for axis in AXES[:-1] if getattr(grid, axis) is not None]
    if grid.rows and len({*named, *fixed}) < len(named) + len(fixed):
        raise UserError(f"{where}: {', '.join(named + fixed)}: rows, columns and table must name different things.")


def _check_rows(grid: PublishedTableSettings, rows: Sequence[Cell], columns: Sequence[Cell], *, where: str) -> None:
    """Check that baselines, marks, other data sets and claims name rows and columns."""
    names, by_name = [row.row for row in rows], {column.column: column for column in columns}
    if both := grid.rows.keys() & grid.rows_from_elsewhere.keys():
        raise UserError(f"{where}: {', '.join(sorted(both))}: in rows and in rows_from_elsewhere.")
    for column, by_row in grid.marks.items():
        choose(column, by_name, noun="column", where=f"{where}: marks")
        for row, marks in by_row.items():
            choose(row, names, noun="row", where=f"{where}: marks: {column}")
            for mark in marks:
                choose(mark, MARKS, noun="mark", where=f"{where}: marks: {column}: {row}")
                if MARKS[mark][0] >= len(grid.baselines):
                    raise UserError(f"{where}: marks: {column}: {row}: there is no baseline for the mark {mark}.")
    if grid.rows and grid.row == "system":
        claimed = [row for claim in grid.claims for row in (*claim.systems, *claim.baselines)]
        for key, named in (("baselines", grid.baselines), ("trained_on", grid.trained_on), ("claims", claimed)):
            for row in named:
                choose(row, names, noun="row", where=f"{where}: {key}")
    for claim in grid.claims:
        for column in (*claim.columns, *claim.baseline_columns):
            choose(column, by_name, noun="column", where=f"{where}: claims")
        _check_second_columns(claim, by_name, where=f"{where}: claims: '{claim.says}'")
        if isinstance(claim.difference, str):
            choose(claim.difference, grid.facts, noun="fact", where=f"{where}: claims")
        baselines = claim.baselines or claim.baseline_columns or grid.baselines
        if not (claim.systems or grid.system) or not baselines:
            raise UserError(f"{where}: claims: '{claim.says}' lacks a system or a baseline.")


def _check_second_columns(claim: ClaimSettings, columns: Mapping[str, Cell], *, where: str) -> None:
    """Check that the columns of baselines have scores that can be compared."""
    if not claim.baseline_columns:
        return
    if claim.items:
        raise UserError(f"{where}: `items` cannot have `baseline_columns`.")
    if len(claim.baseline_columns) != len(claim.columns):
        raise UserError(f"{where}: {len(claim.baseline_columns)} baseline_columns for {len(claim.columns)} columns.")
    for pair in zip(claim.columns, claim.baseline_columns, strict=True):
        column, other = (columns[name] for name in pair)
        same = (column.split, column.metric, column.item) == (other.split, other.metric, other.item)
        if column.dataset == other.dataset or not same:
            raise UserError(f"{where}: {other.column} is not the column {column.column} of another data set.")


def _check_names(paper: Paper, catalogue: Catalogue) -> None:
    """Check that the configuration has the systems, data sets and splits."""
    for system in paper.systems:
        catalogue.systems.check(system, where=str(paper.path))
    for name, table in paper.tables.items():
        where = f"{paper.path}: tables.{name}"
        places = [(cell.dataset, cell.split) for cell in table.cells if cell.published is not None]
        places += [(column.dataset, column.split) for column in table.columns]
        others = paper.settings.tables[name].trained_on.values()
        places += [(dataset, None) for by_dataset in others for dataset in by_dataset.values()]
        for dataset, split in dict.fromkeys(places):
            if dataset is not None:
                splits = catalogue.dataset(dataset, where=where).splits
                if split is not None:
                    choose(split, splits, noun="split", where=f"{where}: {dataset}")
