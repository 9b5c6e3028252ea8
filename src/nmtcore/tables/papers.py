"""The tables of papers and of the user's own, read from their files: rows, columns, cells and claims."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.config.catalogue import Catalogue
from nmtcore.config.files import NamedFiles, merge, named_files, read_yaml
from nmtcore.config.metrics import command_metric_names
from nmtcore.config.registry import own_names
from nmtcore.config.typed import build, choose
from nmtcore.errors import UserError
from nmtcore.tables.cells import AXES, Cell, Claim, PlannedTable, slope_weights
from nmtcore.tables.kinds import KINDS
from nmtcore.tables.measures import MEASURES, is_of_translations, measure_named
from nmtcore.tables.settings import (
    ClaimSettings,
    PaperSettings,
    PaperTablesSettings,
    TableSettings,
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
    settings: PaperTablesSettings
    """Those of both files."""
    tables: Mapping[str, PlannedTable]
    """The tables by name, not yet planned."""

    @property
    def systems(self) -> list[str]:
        """The names of systems in cells, claims and controls, each once, without those from elsewhere."""
        named = [name for table in self.tables.values() for name in _systems_of(table)]
        controls = [name for pair in self.settings.controls.items() for name in (pair[0], *pair[1])]
        return [name for name in dict.fromkeys([*named, *controls]) if name not in self.settings.others]


def _systems_of(table: PlannedTable) -> list[str]:
    cells = (*table.cells, *(cell for claim in table.claims for cell in claim.cells()))
    return [cell.system for cell in cells if cell.system and not cell.elsewhere]


def paper_files(catalogue: Catalogue) -> NamedFiles:
    """Return the files of `tables/` by name."""
    return named_files(catalogue.folders, "tables", noun="paper")


def read_paper(catalogue: Catalogue, name: str, *, where: str = "the target") -> Paper:
    """Read the tables of a file of `tables/`, with the published numbers if the paper has some.

    Raises:
        UserError: if there is no such file, or if it lacks a published table; if a row does not have one value per
            column, a pair has another length than its column's metrics, or a mark, a baseline, a label or a claim names
            no row, no column or no fact; or if a system, a data set or a split does not exist in the configuration. The
            message names file, table and row.
    """
    files, published_files = paper_files(catalogue), named_files(catalogue.folders, "published", noun="paper")
    files.check(name, where=where)
    path, published_path = files[name], published_files.get(name)
    values, published = read_yaml(path), {"title": name, "tables": {}}
    shown = build(PaperTablesSettings, values, where=str(path))
    if published_path is not None:
        published = read_yaml(published_path)
        theirs = build(PaperSettings, published, where=str(published_path))
        if missing := theirs.tables.keys() - shown.tables.keys():
            raise UserError(f"{path}: tables lacks {', '.join(sorted(missing))}, which {published_path} has.")
    _check_shown(catalogue, shown, published["tables"], path)
    settings = build(PaperTablesSettings, merge(published, values), where=str(path))
    table_files = {table: published_path if table in published["tables"] else path for table in shown.tables}
    paper = make_paper(catalogue, name, settings, table_files, published["tables"])
    for system in settings.seeds:
        choose(system, paper.systems, noun="system of its tables", where=f"{path}: seeds")
    for system in paper.systems:
        catalogue.systems.check(system, where=f"{published_path or path}: controls")
    return paper


def make_paper(
    catalogue: Catalogue, name: str, settings: PaperTablesSettings, files: Mapping[str, Path], published: Container = ()
) -> Paper:
    """Make the tables of a paper, whose name is empty if they are those of the configured systems.

    `files` has the file of each table, in their order; all that are not `published` are the user's own. Raises
    `UserError` as `read_paper` does.
    """
    tables = {}
    for table, path in files.items():
        reader = _Reader(catalogue, name, settings, table, table not in published, f"{path}: tables.{table}")
        tables[table] = reader.table()
    return Paper(name, settings, tables)


def row_system(row: str) -> str:
    """Return the system of a row."""
    return row.removesuffix(FILTERED)


def place_of(table: str) -> str:
    """Return where a table or figure is, by its name: `table_b_1` is Table B.1."""
    noun, _, number = table.partition("_")
    number = ".".join(digits.upper() if digits.isalpha() else digits for digits in number.split("_"))
    return f"{noun.capitalize()} {number}" if noun in ("table", "figure") else table.replace("_", " ")


def cell_without_number(row: str, column: Cell) -> Cell:
    """Return the cell of a system in a column of a table that lacks its row."""
    return replace(column, row=row, system=row_system(row), tested=column.dataset, digits=0)


@dataclass(frozen=True)
class _Reader:
    """Reads a table from its settings."""

    catalogue: Catalogue
    paper: str
    settings: PaperTablesSettings
    name: str
    is_own: bool
    where: str
    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    """The cells by row and column, without those of columns that are added."""

    @property
    def grid(self) -> TableSettings:
        """The settings of the table."""
        return self.settings.tables[self.name]

    @property
    def place(self) -> str:
        """Where the table is in the paper."""
        return self.grid.place or place_of(self.name)

    def table(self) -> PlannedTable:
        """Make the table: a cell for each row and column, and the claims."""
        grid = self.grid
        _check_axes(grid, where=self.where)
        groups = [self._columns(name) for name in grid.columns or ("",)]
        rows, columns = self._rows(), [column for group in groups for column in group]
        _check_rows(grid, rows, columns, where=self.where)
        if grid.kind == "sweep":
            _check_sweep(grid, columns, where=self.where)
        numbers = self._numbers(groups)
        for row, column in product(rows, columns):
            key = (row.row, column.column)
            marks = grid.marks.get(column.column, {}).get(row.row, "")
            self.cells[key] = replace(self._cell(row, column), published=numbers.get(key), marks=marks)
        compared = self._compared_with(columns if grid.kind == "constructions" else rows)
        shown = self._with_measures([replace(column, digits=self._digits(column)) for column in columns])
        table = PlannedTable(
            paper=self.paper,
            name=self.name,
            table_kind=grid.kind,
            title=self.settings.title,
            place=self.place,
            description=grid.description,
            baselines=grid.baselines or tuple(dict.fromkeys(compared.values())),
            compared_with=compared,
            facts=grid.facts,
            labels=grid.labels,
            sentence=grid.sentence,
            rows=tuple(rows),
            columns=tuple(column for column, _ in shown),
            cells=tuple(self._shown_cell(row, *pair) for row, pair in product(rows, shown)),
            claims=(*self._marked(columns), *self._said(columns)),
        )
        self._check_names(table)
        return table

    def _rows(self) -> list[Cell]:
        """Return the rows: with numbers, from elsewhere, without numbers, and those that the paper's table lacks."""
        grid, rows = self.grid, {}
        for name in grid.rows:
            rows[name] = Cell(row=name, **{grid.row: row_system(name) if grid.row == "system" else name})
        for name in grid.rows_from_elsewhere:
            rows[name] = Cell(row=name, elsewhere=True)
        for name in (*grid.systems, *grid.added):
            rows.setdefault(name, Cell(row=name, system=row_system(name), added=name not in grid.systems))
        return list(rows.values())

    def _columns(self, name: str) -> list[Cell]:
        """Return the columns of a column's metrics, with what is the same in the whole table."""
        axes, values = (text.split("/") if name else [] for text in (self.grid.column, name))
        if len(axes) != len(values):
            raise UserError(f"{self.where}: columns: '{name}' does not have the form {self.grid.column}.")
        named = {axis: getattr(self.grid, axis) for axis in ("dataset", "split", "metric")}
        named |= dict(zip(axes, values, strict=True))
        metrics = named["metric"].split("+") if "metric" in axes else [""]
        test = "/".join(value for axis, value in zip(axes, values, strict=True) if axis != "metric")
        columns = []
        for metric in metrics:
            named |= {"metric": metric} if metric else {}
            label = "/".join(filter(None, (test, metric)))
            columns.append(Cell(column=label, measure=self._measure(named["metric"]), **named))
        return columns

    def _numbers(self, groups: Sequence[Sequence[Cell]]) -> dict[tuple[str, str], float | None]:
        """Return the numbers by row and column, of which the metrics of a column are a group.

        Raises `UserError` if a row has not one for each column, or a pair not one for each metric.
        """
        rows, numbers = self.grid.rows, {}
        rows = rows if isinstance(rows, Mapping) else dict.fromkeys(rows, (None,) * len(groups))
        for row, values in {**rows, **self.grid.rows_from_elsewhere}.items():
            if len(values) != len(groups):
                raise UserError(f"{self.where}: {row}: {len(values)} values for {len(groups)} columns.")
            for value, group in zip(values, groups, strict=True):
                pair = (None,) * len(group) if value is None else value if isinstance(value, tuple) else (value,)
                if len(pair) != len(group):
                    name = f"{len(group)} metrics of {group[0].column}"
                    raise UserError(f"{self.where}: {row}: {len(pair)} numbers for the {name}.")
                numbers |= {(row, column.column): number for column, number in zip(group, pair, strict=True)}
        return numbers

    def _with_measures(self, columns: Sequence[Cell]) -> list[tuple[Cell, str]]:
        """Return the columns, each with those of the measures that are shown beside it, and the name of the former."""
        shown: dict[str, tuple[Cell, str]] = {}
        present = {(column.dataset, column.split, column.measure) for column in columns}
        for column in columns:
            shown[column.column] = (column, column.column)
            measure = measure_named(column.measure)
            for name in measure.also if measure and KINDS[self.grid.kind].is_grid else ():
                if (column.dataset, column.split, name) not in present:
                    label = _added_name(column, name)
                    added = replace(column, column=label, metric=name, measure=name, digits=0, added=True)
                    shown[label] = (added, column.column)
        return list(shown.values())

    def _shown_cell(self, row: Cell, column: Cell, of: str) -> Cell:
        """Return the cell of a column, or of one that is shown beside the column named `of`."""
        cell = self.cells[row.row, of]
        names = {"column": column.column, "metric": column.metric, "measure": column.measure}
        return replace(cell, **names, published=None, marks="") if column.added else cell

    def _compared_with(self, lines: Sequence[Cell]) -> dict[str, str]:
        """Return what each system of one's own table is compared with, if that is in the table, too.

        That is nothing if the table names its baselines.
        """
        if self.grid.baselines or not KINDS[self.grid.kind].compares or not self.is_own:
            return {}
        systems = [line.system for line in lines if line.system and not line.added]
        compared = {name: self.catalogue.compared_with(name) for name in systems}
        # The columns of a table of constructions are the systems without what they are compared with.
        present = compared.values() if self.grid.kind == "constructions" else systems
        return {name: other for name, other in compared.items() if other is not None and other in present}

    def _measure(self, metric: str | None) -> str:
        name = (metric or "").removesuffix(GAIN)
        return self.settings.measures.get(name, name)

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
        for column, cell in product(columns, self.cells.values()):
            for mark in cell.marks if cell.column == column.column else ():
                position, level = MARKS[mark]
                baseline = self._claimed(self.grid.baselines[position], column, None)
                yield self._claim(replace(cell, item=column.item), baseline, level=level)

    def _said(self, columns: Sequence[Cell]) -> Iterator[Claim]:
        """Yield the claims of sentences: one per system, baseline, column and item; a slope has all systems."""
        by_name = {column.column: column for column in columns}
        for sentence in self.grid.claims:
            named = sentence.columns or tuple(by_name)
            says = {key: getattr(sentence, key) for key in ("says", "direction", "margin", "compares")}
            if sentence.places:
                yield from (self._slope(sentence, by_name[name], says) for name in named)
                continue
            if sentence.correlated_with:
                yield self._correlation(sentence, by_name, says)
                continue
            pairs = list(zip(named, sentence.baseline_columns or named, strict=True))
            # Without `baselines`, each system is compared with itself in the other column.
            itself = bool(sentence.baseline_columns and not sentence.baselines)
            baselines = (None,) if itself else sentence.baselines or self.grid.baselines[:1]
            systems = sentence.systems or (self.grid.system or "",)
            stated = sentence.difference
            stated = self.grid.facts[stated] if isinstance(stated, str) else stated
            second_columns = dict(zip(named, sentence.beyond_columns, strict=False))
            second_items = dict(zip(sentence.items, sentence.beyond_items, strict=False))
            second_rows = dict(zip(sentence.systems, sentence.beyond_systems, strict=False))
            second_baselines = dict(zip(sentence.baselines, sentence.beyond_baselines, strict=False))
            for row, baseline, pair, item in product(systems, baselines, pairs, sentence.items or (None,)):
                column, other = (by_name[name] for name in pair)
                system, against = self._claimed(row, column, item), self._claimed(baseline or row, other, item)
                gain = self.cells.get((item or "", column.column))
                difference = gain.published if gain and stated is None else stated
                claim = self._claim(system, against, difference=difference, controls=sentence.controls, **says)
                if sentence.compares == "gains":
                    second = by_name[second_columns.get(column.column, column.column)]
                    names = (second_rows.get(row, row), second_baselines.get(baseline, baseline or row))
                    cells = [self._claimed(name, second, second_items.get(item, item)) for name in names]
                    claim = _beyond(claim, *cells, stated=stated)
                yield claim

    def _slope(self, sentence: ClaimSettings, column: Cell, says: Mapping[str, Any]) -> Claim:
        """Make a claim about the slope of systems' scores over their places; the last is compared with the first."""
        cells = [self._claimed(row, column, None) for row in sentence.systems]
        terms = tuple(zip(slope_weights(sentence.places), cells, strict=True))
        claim = self._claim(cells[-1], cells[0], controls=(), **says)
        return replace(claim, terms=terms, difference=_published_sum(terms))

    def _correlation(self, sentence: ClaimSettings, columns: Mapping[str, Cell], says: Mapping[str, Any]) -> Claim:
        """Make a claim about the correlation of two measures of systems, within each pair of columns."""
        pairs = tuple(
            (self._claimed(row, columns[first], None), self._claimed(row, columns[second], None))
            for first, second in zip(sentence.columns, sentence.correlated_with, strict=True)
            for row in sentence.systems
        )
        stated = sentence.difference if not isinstance(sentence.difference, str) else None
        return replace(self._claim(*pairs[0], controls=(), **says), pairs=pairs, difference=stated)

    def _claimed(self, row: str, column: Cell, item: str | None) -> Cell:
        """Return the cell of a claim, also of a system that has no row; without an item, it has that of its column."""
        known = self.cells.get((row, column.column))
        return replace(known or self._cell(Cell(row=row, system=row_system(row)), column), item=item or column.item)

    def _claim(self, system: Cell, baseline: Cell, controls: Sequence[str] | None = None, **values: Any) -> Claim:
        """Make a claim about two cells; by default, the difference is theirs, and the controls are `_controls`."""
        published = (system.published, baseline.published)
        if values.get("difference") is None and system.item is None and None not in published:
            values["difference"] = round(system.published - baseline.published, 10)
        if controls is None:
            controls = self._controls(system.system or "")
        compared = {(cell.system, cell.dataset) for cell in (system, baseline)}
        itself = baseline.system == system.system
        pairs = [
            (_of(control, system), _of(control, baseline) if itself else baseline)
            for control in controls
            if (control, system.dataset) not in compared
        ]
        names = {"paper": self.paper, "place": self.place}
        return Claim(**names, system=system, baseline=baseline, controls=tuple(pairs), **values)

    def _controls(self, system: str) -> Sequence[str]:
        """Return the paper's controls of a system or, if it names none, what the system's entry is compared with."""
        if system in self.settings.controls:
            return self.settings.controls[system]
        other = self.catalogue.compared_with(system) if system in self.catalogue.systems else None
        return () if other is None else (other,)

    def _check_names(self, table: PlannedTable) -> None:
        """Check that the configuration has the systems, data sets and splits."""
        for system in dict.fromkeys(_systems_of(table)):
            if system not in self.settings.others:
                self.catalogue.systems.check(system, where=self.where)
        tests = [(cell.dataset, cell.split) for cell in table.cells if cell.published is not None]
        tests += [(column.dataset, column.split) for column in table.columns]
        tests += [(other, None) for by_dataset in self.grid.trained_on.values() for other in by_dataset.values()]
        for dataset, split in dict.fromkeys(tests):
            if dataset is not None:
                splits = self.catalogue.dataset(dataset, where=self.where).splits
                if split is not None:
                    choose(split, splits, noun="split", where=f"{self.where}: {dataset}")


def _beyond(claim: Claim, system: Cell, baseline: Cell, *, stated: float | None) -> Claim:
    """Make a claim about a gain one that this gain is larger than that of another pair of cells."""
    first = ((1.0, claim.system), (-1.0, claim.baseline))
    terms = (*first, (-1.0, system), (1.0, baseline))
    return replace(claim, terms=terms, controls=(), difference=_published_sum(terms) if stated is None else stated)


def _published_sum(terms: Sequence[tuple[float, Cell]]) -> float | None:
    """Return the weighted sum of published numbers of whole tests; None if one is missing."""
    if any(cell.published is None or cell.item for _, cell in terms):
        return None
    return round(sum(weight * cell.published for weight, cell in terms), 10)


def _of(control: str, cell: Cell) -> Cell:
    """Return what a cell of a claim would be of a control."""
    return replace(cell, row=control, system=control, published=None, marks="")


def _added_name(column: Cell, name: str) -> str:
    """Name the column of a measure that is shown beside another."""
    test = column.column.removesuffix(column.metric or "").removesuffix("/")
    label = MEASURES[name].label
    if MEASURES[name].of_translations:
        return label + (f" of {test}" if test else "")
    return f"{column.column}, {label}" if test else label


def _check_shown(catalogue: Catalogue, shown: PaperTablesSettings, published: Container[str], path: Path) -> None:
    """Check the names of own tables, their rows, and that their columns have scores that can be computed."""
    measures = [*MEASURES, *command_metric_names(), *own_names("metrics")]
    _check(shown.measures.values(), measures, "measure", f"{path}: measures")
    for name, table in shown.tables.items():
        where = f"{path}: tables.{name}"
        if not re.fullmatch(_TABLE_NAME, name):
            raise UserError(f"{path}: tables: '{name}': a name has small letters, digits and single underscores.")
        if name in published and (table.rows or table.columns):
            raise UserError(f"{where}: the published table has rows and columns: leave them out here.")
        if table.rows and not table.columns:
            raise UserError(f"{where}: name the `columns` that the rows have, DATASET/SPLIT/METRIC.")
        if KINDS[table.kind].is_grid:
            metrics = [column.rpartition("/")[2] for column in table.columns if column.count("/") == 2]
            _check(metrics, [*measures, *shown.measures], "metric", f"{where}: columns")
        for row in (*table.rows, *table.added):  # before baselines and claims, which name rows
            catalogue.systems.check(row_system(row), where=f"{where}: rows or added")


def _check_axes(grid: TableSettings, *, where: str) -> None:
    """Check that rows, columns and the table name different things."""
    named = [grid.row, *grid.column.split("/")]
    _check(named, AXES, "axis", f"{where}: column")
    fixed = [axis for axis in AXES[:-1] if getattr(grid, axis) is not None]
    if grid.rows and len({*named, *fixed}) < len(named) + len(fixed):
        raise UserError(f"{where}: {', '.join(named + fixed)}: rows, columns and table must name different things.")


def _check_rows(grid: TableSettings, rows: Sequence[Cell], columns: Sequence[Cell], *, where: str) -> None:
    """Check that baselines, marks, labels, other data sets and claims name rows and columns."""
    names, by_name = [row.row for row in rows], {column.column: column for column in columns}
    if both := set(grid.rows) & grid.rows_from_elsewhere.keys():
        raise UserError(f"{where}: {', '.join(sorted(both))}: in rows and in rows_from_elsewhere.")
    _check(grid.marks, by_name, "column", f"{where}: marks")
    marks = [mark for mark, (position, _) in MARKS.items() if position < len(grid.baselines)]
    for column, by_row in grid.marks.items():
        _check(by_row, names, "row", f"{where}: marks: {column}")
        _check("".join(by_row.values()), marks, "mark for which there is a baseline", f"{where}: marks: {column}")
    if grid.rows and grid.row == "system":
        claimed = [
            row
            for claim in grid.claims
            for row in (*claim.systems, *claim.baselines, *claim.beyond_systems, *claim.beyond_baselines)
        ]
        for key, named in (("baselines", grid.baselines), ("trained_on", grid.trained_on), ("claims", claimed)):
            _check(named, names, "row", f"{where}: {key}")
    datasets = [column.dataset for column in columns if column.dataset]
    tests = [f"{column.dataset}/{column.split}" for column in columns if column.dataset and column.split]
    _check(grid.labels, [*names, *datasets, *tests], "row, data set or test", f"{where}: labels")
    for claim in grid.claims:
        named = (*claim.columns, *claim.baseline_columns, *claim.beyond_columns, *claim.correlated_with)
        _check(named, by_name, "column", f"{where}: claims")
        if isinstance(claim.difference, str):
            choose(claim.difference, grid.facts, noun="fact", where=f"{where}: claims")
        baselines = claim.baselines or claim.baseline_columns or grid.baselines or claim.places or claim.correlated_with
        if not (claim.systems or grid.system) or not baselines:
            raise UserError(f"{where}: claims: '{claim.says}' lacks a system or a baseline.")
        compared = [[by_name[name] for name in names] for names in (claim.columns, claim.baseline_columns)]
        alike = len(compared[0]) == len(compared[1]) and all(map(_can_be_compared, *compared))
        if claim.baseline_columns and (claim.items or not alike):
            raise UserError(
                f"{where}: claims: '{claim.says}': `baseline_columns` must be, for each of `columns`, another column "
                "of the same split and, of scores of sentences, of the same metric, without `items`."
            )
        if claim.items and KINDS[grid.kind].is_grid and "item" not in (grid.row, *grid.column.split("/")):
            raise UserError(f"{where}: claims: '{claim.says}': `items` need rows or columns that name an item.")


def _can_be_compared(column: Cell, other: Cell) -> bool:
    """Return whether a claim may compare two columns: of other data, another item or, of no scores, another metric."""
    measures = [measure_named(cell.measure) for cell in (column, other)]
    comparable = column.metric == other.metric or not any(
        measure is not None and measure.counts for measure in measures
    )
    return comparable and column.split == other.split and column.column != other.column


def _check_sweep(grid: TableSettings, columns: Sequence[Cell], *, where: str) -> None:
    """Check that dev can choose among the rows of a sweep, and that nothing is claimed of the other trials."""
    judged = {(column.dataset, column.measure, is_of_translations(column.measure)) for column in columns}
    wrong = grid.claims or any(column.measure == "comet" or column.split in (None, "dev") for column in columns)
    if wrong or len(judged) > 1 or not min(judged)[2]:
        raise UserError(
            f"{where}: a sweep has columns DATASET/TEST/METRIC of one data set and one metric of translations (bleu, "
            "chrf...), but not of dev, which chooses in any case, and no claims."
        )


def _check(names: Iterable[str], known: Iterable[str], noun: str, where: str) -> None:
    """Check that all of some names are known. Raises `UserError` for the first that is not."""
    for name in names:
        choose(name, known, noun=noun, where=where)
