"""The comparisons that papers make, by marks of significance and by sentences, as one list."""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from nmtcore.config.cells import GridLine
from nmtcore.config.published import MARGIN, MARKS, ClaimSettings, Direction, Paper, PublishedTable, row_system


class TrainedSystem(NamedTuple):
    """A system as trained on a data set."""

    system: str
    dataset: str | None
    """None if the paper names no data set."""


class Claim(NamedTuple):
    """A comparison that a paper makes between a system and a baseline on a split."""

    paper: str
    place: str
    """The table, figure or section of the paper."""
    says: str
    """What the paper says, in our words; empty for a mark."""
    system: TrainedSystem
    baseline: TrainedSystem
    baseline_from_elsewhere: bool
    """Whether the baseline is no system of ours, but a result that the paper quotes from others."""
    dataset: str | None
    """The data set of the table, whose tests are those of the data sets that the systems were trained on."""
    split: str | None
    metric: str | None
    item: str | None
    """A subset of the split; None: the whole split."""
    direction: Direction
    difference: float | None
    """The published difference, system minus baseline; None if it is not published or not in our copy."""
    level: float | None
    """The level of significance that the paper gives; None for a sentence."""
    controls: tuple[TrainedSystem, ...]
    """What a gain is compared with: systems that lack what the gain is claimed to come from."""
    margin: float = MARGIN
    """Of a claim that there is no gain: the points below which a gain counts as none."""


def trained_name(trained: TrainedSystem, dataset: str | None) -> str:
    """Name a system, with the data set that it was trained on if that is not the `dataset` of a claim."""
    return trained.system if trained.dataset == dataset else f"{trained.system} on {trained.dataset}"


def table_claims(paper: Paper, name: str) -> list[Claim]:
    """List the claims of one table of a paper: first the marks, then the sentences."""
    table = paper.tables[name]
    return [*_marked(paper, table), *_said(paper, table)]


def _marked(paper: Paper, table: PublishedTable) -> Iterator[Claim]:
    """Yield a claim per mark."""
    rows = {row.name: row for row in table.rows}
    for column in table.columns:
        for row in table.rows:
            cell = table.cells.get((row.name, column.name))
            for mark in cell.marks if cell else "":
                position, level = MARKS[mark]
                baseline = rows[table.settings.baselines[position]]
                yield _claim(paper, table, (row, column), (baseline, column), level=level)


def _said(paper: Paper, table: PublishedTable) -> Iterator[Claim]:
    """Yield the claims of sentences: one per system, baseline, column and item."""
    settings = table.settings
    columns = {column.name: column for column in table.columns}
    for sentence in settings.claims:
        named = sentence.columns or tuple(columns)
        pairs = list(zip(named, sentence.baseline_columns or named, strict=True))
        systems = sentence.systems or (settings.system or "",)
        names = product(systems, _baselines(sentence, table), pairs, sentence.items or (None,))
        for system, baseline, (column, baseline_column), item in names:
            difference = sentence.difference
            yield _claim(
                paper,
                table,
                (_row_named(table, system), columns[column]),
                (_row_named(table, baseline or system), columns[baseline_column]),
                sentence=sentence,
                item=item,
                stated=settings.facts[difference] if isinstance(difference, str) else difference,
            )


def _baselines(sentence: ClaimSettings, table: PublishedTable) -> tuple[str | None, ...]:
    """Return the rows that the systems of a sentence are compared with; None: each with itself."""
    if sentence.baseline_columns and not sentence.baselines:
        return (None,)
    return sentence.baselines or table.settings.baselines[:1]


def _row_named(table: PublishedTable, name: str) -> GridLine:
    """Return a row of a table, or a row without numbers for a system that the table does not have."""
    rows = {row.name: row for row in table.rows}
    return rows.get(name, GridLine(name=name, system=row_system(name)))


_Cell = tuple[GridLine, GridLine]


def _claim(
    paper: Paper,
    table: PublishedTable,
    cell: _Cell,
    baseline_cell: _Cell,
    *,
    sentence: ClaimSettings | None = None,
    item: str | None = None,
    stated: float | None = None,
    level: float | None = None,
) -> Claim:
    column, baseline = cell[1], baseline_cell[0]
    system, compared = _trained(table, *cell), _trained(table, *baseline_cell)
    named = None if sentence is None else sentence.controls
    if named is None:
        named = paper.settings.controls.get(system.system, filter(None, [paper.compared_with.get(system.system)]))
    controls = [TrainedSystem(name, system.dataset) for name in named]
    difference = _difference(table, cell, baseline_cell, item)
    return Claim(
        paper=paper.name,
        place=table.place,
        says=sentence.says if sentence else "",
        system=system,
        baseline=compared,
        baseline_from_elsewhere=baseline.elsewhere or compared.system in paper.settings.others,
        dataset=column.dataset or table.settings.dataset,
        split=column.split or table.settings.split,
        metric=column.metric,
        item=item,
        direction=sentence.direction if sentence else "gain",
        difference=difference if stated is None else stated,
        level=level,
        controls=tuple(control for control in controls if control not in (system, compared)),
        margin=sentence.margin if sentence else MARGIN,
    )


def _trained(table: PublishedTable, row: GridLine, column: GridLine) -> TrainedSystem:
    return TrainedSystem(row.system or row.name, table.trained_dataset(row, column))


def _difference(table: PublishedTable, cell: _Cell, baseline_cell: _Cell, item: str | None) -> float | None:
    """Return the difference of two cells or, for an item, the cell that is a difference; None if a cell is empty."""
    if item is not None:
        return table.value(item, cell[1].name)
    ours, theirs = (table.value(row.name, column.name) for row, column in (cell, baseline_cell))
    return None if ours is None or theirs is None else round(ours - theirs, 10)
