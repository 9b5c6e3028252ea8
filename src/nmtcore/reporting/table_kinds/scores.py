"""Tables of scores: ours next to the published ones, and all differences from the baselines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from textwrap import fill
from typing import Any, NamedTuple

from nmtcore.config.planned_tables import PlannedCell, PlannedColumn, PlannedTable
from nmtcore.evaluation.agreement import MEANING, expected_agreement
from nmtcore.evaluation.attachment_statistics import AttachmentStatistics
from nmtcore.evaluation.bootstrap import SAMPLES
from nmtcore.evaluation.differences import Difference, holm
from nmtcore.evaluation.paired_tests import PairedTests
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
Ours have the same marks for gains, and x, X (y, Y against the second baseline) for losses, by the paired bootstrap test
of single runs (of several seeds the median). Scores are means over seeds, ± their standard deviation if there are
several. Columns "chrF of" and "BLEU of" a test are ours alone, by sacreBLEU. Difference: from the baseline's mean. Its
95 % interval joins the variance over seeds with that over {SAMPLES:,} paired bootstrap samples of the sentences.
Detectable: the smallest difference that would be detected with a probability of 80 %. p: from the same variances; Holm:
corrected for all comparisons by the same measure. Judges: {MEANING} Bootstrap, randomisation: p-values of sacreBLEU's
paired tests of single runs (of several seeds the median). Seed noise that differs from sentence to sentence counts
twice, so intervals are a little too wide.
"""
_WIDTH = 120
"""Characters of a line of the notes."""


class _Comparison(NamedTuple):
    """A system compared with a baseline in a column."""

    column: str
    measure: str
    row: str
    baseline: str
    runs: str
    baseline_runs: str
    seeds: int
    published: float | None
    result: Difference
    tests: PairedTests | None


def scores_content(table: PlannedTable, layout: Layout) -> TableContent:
    """Score the runs of a table and compare them with its baselines."""
    measurements = Measurements(table, layout)
    comparisons = [comparison for column in table.columns for comparison in _comparisons(table, column, measurements)]
    corrected = _corrected(comparisons)
    blocks: list[Block] = [
        *item_blocks(empty_runs(table, layout)),
        *divided_by_dataset(table.columns, lambda columns: _overview(table, columns, measurements, comparisons)),
    ]
    if comparisons:
        blocks += [Heading("Differences from the baselines"), _details(comparisons, corrected)]
    blocks += [*_notes(table, measurements), *item_blocks(_items(table, measurements))]
    data = {"scores": _score_data(table, measurements), "comparisons": _comparison_data(comparisons, corrected)}
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


def _comparisons(table: PlannedTable, column: PlannedColumn, measurements: Measurements) -> Iterator[_Comparison]:
    """Yield the comparisons of a column, by the paper's measure and by `ALSO`."""
    measure = measurements.measure(column.metric or "")
    measures = [measure] if measure in (ALSO, *ATTACHMENT) else [measure, ALSO]
    for own in measures:
        for baseline in table.baselines:
            against = table.cell(baseline, column.name)
            for row in table.rows:
                cell = table.cell(row.name, column.name)
                compared = row.name not in table.baselines[: table.baselines.index(baseline) + 1]
                if (
                    compared
                    and cell.runs != against.runs
                    and _scored(cell, measurements)
                    and _scored(against, measurements)
                ):
                    names = (cell.runs, against.runs, cell.split, own)
                    published = _minus(cell.published, against.published) if own == measure else None
                    seeds = len(table.runs[cell.runs].seeds)
                    yield _Comparison(
                        column.name, own, row.name, baseline, cell.runs, against.runs, seeds, published,
                        measurements.compare(*names), measurements.test(*names),
                    )  # fmt: skip


def _minus(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else round(first - second, 10)


def _corrected(comparisons: Sequence[_Comparison]) -> list[float | None]:
    """Return each comparison's p-value, corrected over those by the same measure."""
    corrected: list[float | None] = [None] * len(comparisons)
    for measure in dict.fromkeys(comparison.measure for comparison in comparisons):
        places = [i for i, comparison in enumerate(comparisons) if comparison.measure == measure]
        for i, p in zip(places, holm([comparisons[i].result.p for i in places]), strict=True):
            corrected[i] = p
    return corrected


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
    marks = {(c.row, c.column): "" for c in comparisons}
    for comparison in comparisons:
        if comparison.measure == measurements.measure(_metric(table, comparison.column)):
            marks[comparison.row, comparison.column] += _mark(table, comparison)
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


def _metric(table: PlannedTable, column: str) -> str:
    return next(own.metric or "" for own in table.columns if own.name == column)


def _mark(table: PlannedTable, comparison: _Comparison) -> str:
    # Scores that are 0 in all samples of the bootstrap test, as unsmoothed BLEU can be, have the smallest p there is.
    if comparison.tests is None or comparison.result.delta == 0:
        return ""
    position = table.baselines.index(comparison.baseline)
    if position >= len(GAINS) or comparison.tests.bootstrap_p >= 0.05:
        return ""
    letters = (GAINS if comparison.result.delta > 0 else LOSSES)[position]
    return letters[comparison.tests.bootstrap_p < 0.01]


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
        parts = measurements.statistics(*names)
        mean = (
            fmean(part.sentence_mean for part in parts if isinstance(part, AttachmentStatistics))
            if cell.metric == "uas"
            else None
        )
    else:
        cells += [TableCell(None, reason=cell.reason), *[TableCell(None)] * len(more)]
    return [*cells, *([TableCell(mean, origin=cell.runs or "")] if cell.metric == "uas" else [])]


def _details(comparisons: Sequence[_Comparison], corrected: Sequence[float | None]) -> Table:
    columns = [
        *text_columns("column", "measure", "system", "baseline"),
        *number_columns("seeds"),
        Column(name="published", content="number", digits=2, signed=True),
        *comparison_columns(),
        *number_columns("p", "Holm", content="p_value"),
        *number_columns("judges, %"),
        *number_columns("bootstrap", "randomisation", content="p_value"),
    ]
    groups: dict[tuple[str, str, str], list[list[Any]]] = {}
    for comparison, p in zip(comparisons, corrected, strict=True):
        result, tests = comparison.result, comparison.tests
        compared = [
            *(result.p, p, expected_agreement(comparison.measure, result.delta)),
            *((None, None) if tests is None else (tests.bootstrap_p, tests.randomisation_p)),
        ]
        groups.setdefault((comparison.column, comparison.measure, comparison.baseline), []).append(
            [
                *(comparison.column, measure_label(comparison.measure), comparison.row),
                *with_origin([comparison.baseline], comparison.baseline_runs),
                *with_origin([comparison.seeds], comparison.runs),
                comparison.published,
                *with_origin([*comparison_cells(result), *compared], comparison.runs),
            ]
        )
    return grouped_table(columns, list(groups.values()))


def _items(table: PlannedTable, measurements: Measurements) -> Iterator[str]:
    """Yield sentences about signatures, seeds and unfinished runs."""
    more = _more_measures(table, measurements)
    for cell in table.cells:
        if _scored(cell, measurements) and is_of_translations(measurements.measure(cell.metric)):
            for measure in dict.fromkeys((measurements.measure(cell.metric), *more[cell.column], ALSO)):
                signature = measurements.statistics(cell.runs, cell.split, measure)[0].signature
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


def _comparison_data(comparisons: Sequence[_Comparison], corrected: Sequence[float | None]) -> list[Mapping[str, Any]]:
    return [
        {
            **comparison._asdict(),
            "result": asdict(comparison.result),
            "tests": None if comparison.tests is None else asdict(comparison.tests),
            "holm": p,
        }
        for comparison, p in zip(comparisons, corrected, strict=True)
    ]
