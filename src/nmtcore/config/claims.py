"""The comparisons that papers make, by marks of significance and by sentences, as one list."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from nmtcore.config.published import (
    MARKS,
    ClaimSettings,
    Direction,
    Paper,
    PublishedColumn,
    PublishedRow,
    PublishedTable,
    row_system,
)


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


def paper_claims(paper: Paper) -> list[Claim]:
    """List the claims of a paper: for each table first the marks, then the sentences."""
    return [claim for name in paper.tables for claim in table_claims(paper, name)]


def table_claims(paper: Paper, name: str) -> list[Claim]:
    """List the claims of one table of a paper: first the marks, then the sentences."""
    table = paper.tables[name]
    return [*_marked(paper, table), *_said(paper, table, name)]


def claim_to_json(claim: Claim) -> dict[str, Any]:
    """Convert a claim to plain values, the inverse of `claim_from_json`."""
    values = {
        name: list(value) if isinstance(value, TrainedSystem) else value
        for name, value in zip(claim._fields, claim, strict=True)
    }
    return values | {"controls": [list(control) for control in claim.controls]}


def claim_from_json(values: Mapping[str, Any]) -> Claim:
    """Make a claim of plain values."""
    systems = {name: TrainedSystem(*values[name]) for name in ("system", "baseline")}
    return Claim(**{**values, **systems, "controls": tuple(TrainedSystem(*control) for control in values["controls"])})


def _marked(paper: Paper, table: PublishedTable) -> Iterator[Claim]:
    """Yield a claim per mark."""
    rows = {row.name: row for row in table.rows}
    for column in table.columns:
        for row in table.rows:
            cell = table.cells.get((row.name, column.name))
            for mark in cell.marks if cell else "":
                position, level = MARKS[mark]
                baseline = rows[table.baselines[position]]
                yield _claim(paper, table, row, baseline, column, level=level)


def _said(paper: Paper, table: PublishedTable, name: str) -> Iterator[Claim]:
    """Yield the claims of sentences: one per system, baseline, column and item."""
    settings = paper.settings.tables[name]
    columns = {column.name: column for column in table.columns}
    for sentence in settings.claims:
        systems = sentence.systems or (settings.system or "",)
        baselines = sentence.baselines or table.baselines[:1]
        names = product(systems, baselines, sentence.columns or columns, sentence.items or (None,))
        for system, baseline, column, item in names:
            difference = sentence.difference
            yield _claim(
                paper,
                table,
                _row_named(table, system),
                _row_named(table, baseline),
                columns[column],
                sentence=sentence,
                item=item,
                stated=table.facts[difference] if isinstance(difference, str) else difference,
            )


def _row_named(table: PublishedTable, name: str) -> PublishedRow:
    """Return a row of a table, or a row without numbers for a system that the table does not have."""
    rows = {row.name: row for row in table.rows}
    return rows.get(name, PublishedRow(name=name, system=row_system(name)))


def _claim(
    paper: Paper,
    table: PublishedTable,
    row: PublishedRow,
    baseline: PublishedRow,
    column: PublishedColumn,
    *,
    sentence: ClaimSettings | None = None,
    item: str | None = None,
    stated: float | None = None,
    level: float | None = None,
) -> Claim:
    system = TrainedSystem(row.system or row.name, table.trained_dataset(row, column))
    compared = TrainedSystem(baseline.system or baseline.name, table.trained_dataset(baseline, column))
    named = None if sentence is None else sentence.controls
    named = paper.settings.controls.get(system.system, ()) if named is None else named
    controls = [TrainedSystem(name, system.dataset) for name in named]
    return Claim(
        paper=paper.name,
        place=table.place,
        says=sentence.says if sentence else "",
        system=system,
        baseline=compared,
        baseline_from_elsewhere=baseline.elsewhere or compared.system in paper.settings.others,
        dataset=column.dataset or table.dataset,
        split=column.split or table.split,
        metric=column.metric,
        item=item,
        direction=sentence.direction if sentence else "gain",
        difference=_difference(table, row, baseline, column, item) if stated is None else stated,
        level=level,
        controls=tuple(control for control in controls if control not in (system, compared)),
    )


def _difference(
    table: PublishedTable, row: PublishedRow, baseline: PublishedRow, column: PublishedColumn, item: str | None
) -> float | None:
    """Return the difference of two cells or, for an item, the cell that is a difference; None if a cell is empty."""
    if item is not None:
        return table.value(item, column.name)
    ours, theirs = table.value(row.name, column.name), table.value(baseline.name, column.name)
    return None if ours is None or theirs is None else round(ours - theirs, 10)
