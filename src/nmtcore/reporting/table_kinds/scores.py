"""Tables of scores: ours next to the published ones, and all differences from the baselines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from textwrap import fill
from typing import Any, NamedTuple

from nmtcore.config.planned_tables import PlannedCell, PlannedColumn, PlannedTable
from nmtcore.evaluation.agreement import MEANING, expected_agreement
from nmtcore.evaluation.compare import SAMPLES, Difference, holm
from nmtcore.evaluation.counts import SentenceCounts
from nmtcore.layout import Layout
from nmtcore.reporting.difference_columns import comparison_cells, comparison_columns
from nmtcore.reporting.empty_translations import empty_runs
from nmtcore.reporting.measurements import ATTACHMENT, Measurements, is_of_translations, measure_label
from nmtcore.reporting.published_columns import divided_by_dataset
from nmtcore.reporting.seed_items import seed_items
from nmtcore.reporting.table import (
    Block,
    Column,
    Heading,
    Paragraph,
    SeedMean,
    Table,
    TableCell,
    grouped_table,
    item_blocks,
    make_table,
    note,
    number_columns,
    text_columns,
    with_origin,
)
from nmtcore.reporting.table_content import TableContent

ALSO = "chrf"
"""The measure that translations are also compared by, in addition to the paper's."""

ALWAYS = ("bleu", ALSO)
"""The measures that each test of translations has scores by, in columns of their own if no column of the paper has."""

GAINS, LOSSES = ("dD", "vV"), ("xX", "yY")
"""Our marks of gains and of losses against the first and the second baseline: p < 0.05 and p < 0.01."""

_PUBLISHED_MARKS = """
Marks of published scores are the paper's: d and D, p < 0.05 and p < 0.01 against the first baseline; v and V the same
against the second.
"""
_OUR_SCORES = f"""
Ours have the same marks for gains, and x, X (y, Y against the second baseline) for losses, by the p of the difference,
which is below 0.05 if the 95 % interval excludes 0; comparisons with one seed have none. Scores are means over seeds, ±
their standard deviation if there are several. Columns "chrF of" and "BLEU of" a test are ours alone, by sacreBLEU.
Difference: from the baseline's mean. Its 95 % interval joins the variance over seeds with that over {SAMPLES:,} paired
bootstrap samples of the sentences. Detectable: the smallest difference that would be detected with a probability of
80 %. p: from the same variances; Holm: corrected for all comparisons by the same measure. Runs that several columns or
rows show are compared once. Judges: {MEANING}
"""
_WIDTH = 120
"""Characters of a line of the notes."""


class _Place(NamedTuple):
    """Where a table shows the runs of a comparison."""

    column: str
    row: str
    baseline: str
    published: float | None


class _Runs(NamedTuple):
    """Runs that are compared: several columns and rows have the same if one data set stands in for several."""

    measure: str
    runs: str
    baseline_runs: str
    split: str


class _Comparison(NamedTuple):
    """A system compared with a baseline, once for all its places."""

    compared: _Runs
    places: Sequence[_Place]
    seeds: int
    result: Difference
    holm: float | None
    """The p-value, corrected over the comparisons by the same measure."""

    def names(self, field: str) -> str:
        """Join the names of a field of the places."""
        return ", ".join(dict.fromkeys(getattr(place, field) for place in self.places))


def scores_content(table: PlannedTable, layout: Layout) -> TableContent:
    """Score the runs of a table and compare them with its baselines."""
    measurements = Measurements(table, layout)
    comparisons = _comparisons(table, measurements)
    blocks: list[Block] = [
        *item_blocks(empty_runs(table, layout)),
        *divided_by_dataset(table.columns, lambda columns: _overview(table, columns, measurements, comparisons)),
    ]
    if comparisons:
        blocks += [Heading("Differences from the baselines"), _details(comparisons)]
    blocks += [*_notes(table, measurements), *item_blocks(_items(table, measurements))]
    data = {"scores": _score_data(table, measurements), "comparisons": _comparison_data(comparisons)}
    return TableContent(blocks=blocks, data=data, compare=measurements.compare_claimed)


def _scored(cell: PlannedCell, measurements: Measurements) -> bool:
    return bool(
        cell.runs and cell.split and cell.metric
        and measurements.has(cell.runs, cell.split, measurements.measure(cell.metric))
    )  # fmt: skip


def _notes(table: PlannedTable, measurements: Measurements) -> Iterator[Paragraph]:
    """Yield what explains the numbers that a table has: marks of the paper, and scores of ours."""
    scored = any(_scored(cell, measurements) for cell in table.cells)
    text = _PUBLISHED_MARKS if scored or any(cell.marks for cell in table.cells) else ""
    text += _OUR_SCORES if scored else ""
    if text:
        yield note(fill(" ".join(text.split()), _WIDTH))


def _comparisons(table: PlannedTable, measurements: Measurements) -> list[_Comparison]:
    """Make the comparisons of all columns, by the paper's measure and by `ALSO`."""
    compared: dict[_Runs, list[_Place]] = {}
    also: dict[_Runs, list[_Place]] = {}
    for column in table.columns:
        for own, place in _places(table, column, measurements):
            compared.setdefault(own, []).append(place)
            if own.measure not in ATTACHMENT:
                also.setdefault(own._replace(measure=ALSO), []).append(place._replace(published=None))
    compared |= {own: places for own, places in also.items() if own not in compared}
    results = {own: measurements.compare(own.runs, own.baseline_runs, own.split, own.measure) for own in compared}
    corrected = {
        measure: holm({own: result.p for own, result in results.items() if own.measure == measure})
        for measure in {own.measure for own in compared}
    }
    return [
        _Comparison(own, places, len(table.runs[own.runs].seeds), results[own], corrected[own.measure][own])
        for own, places in compared.items()
    ]


def _places(table: PlannedTable, column: PlannedColumn, measurements: Measurements) -> Iterator[tuple[_Runs, _Place]]:
    """Yield the runs that a column compares with those of baselines, by its measure, and where."""
    measure = measurements.measure(column.metric or "")
    for position, baseline in enumerate(table.baselines):
        against = table.cell(baseline, column.name)
        for row in table.rows:
            cell = table.cell(row.name, column.name)
            if (
                row.name not in table.baselines[: position + 1]
                and cell.runs != against.runs
                and _scored(cell, measurements)
                and _scored(against, measurements)
            ):
                published = _minus(cell.published, against.published)
                compared = _Runs(measure, cell.runs, against.runs, cell.split)
                yield compared, _Place(column.name, row.name, baseline, published)


def _minus(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else round(first - second, 10)


def _overview(
    table: PlannedTable,
    shown: Sequence[PlannedColumn],
    measurements: Measurements,
    comparisons: Sequence[_Comparison],
) -> Table:
    """Tabulate the scores of some of the paper's columns."""
    columns = [*text_columns("system")]
    more = _more_measures(table, measurements)
    for column in shown:
        if _is_published(table, column):
            columns.append(Column(name=f"{column.name}, published", content="number", digits=column.digits))
        columns.append(Column(name=column.name, content="mean", digits=2))
        for measure in more[column.name]:
            columns.append(_more_column(column, measure))
        if column.metric == "uas":
            columns += number_columns(f"{column.name}, mean over sentences", digits=2)
    measures = {column.name: measurements.measure(column.metric or "") for column in table.columns}
    marks: dict[tuple[str, str], str] = {}
    for comparison in comparisons:
        for place in comparison.places:
            if comparison.compared.measure == measures[place.column]:
                mark = _mark(table.baselines.index(place.baseline), comparison.result)
                marks[place.row, place.column] = marks.get((place.row, place.column), "") + mark
    rows = []
    for row in table.rows:
        cells: list[Any] = [row.name + (" (added)" if row.added else "")]
        for column in shown:
            cell = table.cell(row.name, column.name)
            if _is_published(table, column):
                mark = f" {cell.marks}" if cell.marks and cell.published is not None else ""
                cells.append(TableCell(cell.published, mark))
            cells += _score_cells(cell, measurements, marks.get((row.name, column.name), ""), more[column.name])
        rows.append(cells)
    return make_table(columns, rows)


def _more_column(column: PlannedColumn, measure: str) -> Column:
    """Make the column of the test of another column, by a measure that the paper does not have."""
    test = column.name.removesuffix(column.metric or "").removesuffix("/")
    name = measure_label(measure) + (f" of {test}" if test else "")
    return Column(name=name, content="mean", digits=2 if measure == "bleu" else 1)


def _is_published(table: PlannedTable, column: PlannedColumn) -> bool:
    """Return whether the paper has a number in a column, which tables of the user's own do not."""
    return any(cell.published is not None for cell in table.cells if cell.column == column.name)


def _mark(baseline: int, result: Difference) -> str:
    """Return the mark of a difference from the first or the second baseline (0, 1); others have none."""
    if baseline >= len(GAINS) or not result.with_training_noise or result.p is None or result.p >= 0.05:
        return ""
    return (GAINS if result.delta > 0 else LOSSES)[baseline][result.p < 0.01]


def _more_measures(table: PlannedTable, measurements: Measurements) -> dict[str, tuple[str, ...]]:
    """Return, for each column of scores of translations, those of `ALWAYS` that no column has for the same test."""
    of_columns = {column.name: measurements.measure(column.metric or "") for column in table.columns}
    shown = {(column.dataset, column.split, of_columns[column.name]) for column in table.columns}
    more: dict[str, tuple[str, ...]] = {}
    for column in table.columns:
        lacking = [measure for measure in ALWAYS if (column.dataset, column.split, measure) not in shown]
        more[column.name] = tuple(lacking) if is_of_translations(of_columns[column.name]) else ()
        shown |= {(column.dataset, column.split, measure) for measure in more[column.name]}
    return more


def _score_cells(cell: PlannedCell, measurements: Measurements, mark: str, more: Sequence[str] = ()) -> list[TableCell]:
    """Make our cells of a column: the score, those by `more` measures and, for UAS, the mean over sentences."""
    cells = []
    mean: float | None = None
    if _scored(cell, measurements):
        names = (cell.runs, cell.split, measurements.measure(cell.metric))
        scores = measurements.scores(*names)
        cells.append(TableCell(SeedMean.over(scores), f" {mark}" if mark else "", origin=cell.runs))
        for measure in more:
            others = measurements.scores(cell.runs, cell.split, measure)
            cells.append(TableCell(SeedMean.over(others), origin=cell.runs))
        if cell.metric == "uas":
            mean = fmean(_sentence_mean(part) for part in measurements.counts(*names))
    else:
        cells += [TableCell(None, reason=cell.reason), *[TableCell(None)] * len(more)]
    return [*cells, *([TableCell(mean, origin=cell.runs or "")] if cell.metric == "uas" else [])]


def _sentence_mean(counts: SentenceCounts) -> float:
    """Return the mean of the percentages of the sentences with words, 0 if there are none."""
    scored_BF = counts.counts_BF[counts.counts_BF[:, 1] > 0]
    return float(counts.score(scored_BF).mean()) if len(scored_BF) else 0.0


def _details(comparisons: Sequence[_Comparison]) -> Table:
    columns = [
        *text_columns("column", "measure", "system", "baseline"),
        *number_columns("seeds"),
        Column(name="published", content="number", digits=2, signed=True),
        *comparison_columns(),
        *number_columns("p", "Holm", content="p_value"),
        *number_columns("judges, %"),
    ]
    groups: dict[tuple[str, str, str], list[list[Any]]] = {}
    for comparison in comparisons:
        compared, result = comparison.compared, comparison.result
        judges = expected_agreement(compared.measure, result.delta)
        names = (comparison.names("column"), measure_label(compared.measure), comparison.names("baseline"))
        groups.setdefault(names, []).append(
            [
                *(names[0], names[1], comparison.names("row")),
                *with_origin([names[2]], compared.baseline_runs),
                *with_origin([comparison.seeds], compared.runs),
                _published(comparison.places),
                *with_origin([*comparison_cells(result), result.p, comparison.holm, judges], compared.runs),
            ]
        )
    return grouped_table(columns, list(groups.values()))


def _published(places: Sequence[_Place]) -> TableCell:
    """Make the cell of the published difference, or of the reason why there is none: different ones in one place."""
    published = {place.column: place.published for place in places if place.published is not None}
    if len(set(published.values())) > 1:
        return TableCell(None, reason=", ".join(f"{value:+.2f} in {column}" for column, value in published.items()))
    return TableCell(next(iter(published.values()), None))


def _items(table: PlannedTable, measurements: Measurements) -> Iterator[str]:
    """Yield sentences about signatures, seeds and unfinished runs."""
    more = _more_measures(table, measurements)
    for cell in table.cells:
        if _scored(cell, measurements) and is_of_translations(measurements.measure(cell.metric)):
            for measure in dict.fromkeys((measurements.measure(cell.metric), *more[cell.column], ALSO)):
                signature = measurements.counts(cell.runs, cell.split, measure)[0].signature
                yield f"{measure_label(measure)} of {cell.dataset}, {cell.split}: {signature}."
    yield from seed_items(table)


def _score_data(table: PlannedTable, measurements: Measurements) -> list[dict[str, Any]]:
    """List the scores of each cell by seed; `more_scores` are those by the measures that the paper's columns lack."""
    more = _more_measures(table, measurements)
    return [
        {
            **{
                key: getattr(cell, key) for key in ("row", "column", "published", "marks", "dataset", "split", "metric")
            },
            "runs": cell.runs,
            "seeds": list(table.runs[cell.runs].seeds) if cell.runs else [],
            "scores": measurements.scores(cell.runs, cell.split, measurements.measure(cell.metric))
            if _scored(cell, measurements)
            else None,
            "more_scores": {
                measure: measurements.scores(cell.runs, cell.split, measure)
                for measure in (more[cell.column] if _scored(cell, measurements) else ())
            },
            "reason": cell.reason or None,
        }
        for cell in table.cells
    ]


def _comparison_data(comparisons: Sequence[_Comparison]) -> list[Mapping[str, Any]]:
    return [
        {
            **comparison.compared._asdict(),
            "places": [place._asdict() for place in comparison.places],
            "seeds": comparison.seeds,
            "result": asdict(comparison.result),
            "holm": comparison.holm,
        }
        for comparison in comparisons
    ]
