"""Tables of the accuracy of induced trees: ours next to the published ones, and the differences in claims."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from nmtcore.config.claims import claim_from_json, trained_name
from nmtcore.config.planned_tables import ComparedRuns, PlannedCell, PlannedClaim, PlannedColumn, PlannedTable
from nmtcore.evaluation.compare import SAMPLES, Difference, holm
from nmtcore.evaluation.induction import BASELINES, MEASURES, RANDOM_TREES
from nmtcore.layout import Layout
from nmtcore.reporting.claims_page import claimed_text
from nmtcore.reporting.difference_columns import comparison_cells, comparison_columns
from nmtcore.reporting.induction_measurements import (
    MEASURES_OF_METRICS,
    InductionMeasurements,
    ScoredTrees,
    Treebank,
    TreesOfTreebank,
)
from nmtcore.reporting.published_columns import divided_by_dataset
from nmtcore.reporting.seed_items import seed_items
from nmtcore.reporting.table import (
    Column,
    Heading,
    Items,
    SeedMean,
    Table,
    TableCell,
    make_table,
    note,
    number_columns,
    text_columns,
    with_origin,
)
from nmtcore.reporting.table_content import Compared, TableContent
from nmtcore.reporting.table_treebanks import TableTreebanks

ALSO = {"undirected_gold_edges": "undirected_predicted_edges"}
"""The measure that is shown in addition to another: the other definition of undirected accuracy."""

_NOTES = f"""
Percentages of the words other than punctuation whose gold head is not the root, means over seeds, ± their standard
deviation if there are several. Directed: the head is right. Undirected: the predicted tree joins the word with its gold
head (over gold edges). Beside it the other count: the gold tree joins the word with its predicted head (over predicted
edges). The paper does not say which it means; the published accuracy of left and right branching is nearer to the
first. left: the head is the next word; right: the previous one; random: the mean of {RANDOM_TREES} random trees per
sentence; untrained: the same model with its initial weights. Differences: the 95 % interval joins the variance over
seeds with that over {SAMPLES:,} paired bootstrap samples of the sentences. Detectable: the smallest difference that
would be detected with a probability of 80 %. Holm: p corrected for all comparisons in the table; one that several
claims are about counts once.
"""


class _Tested(NamedTuple):
    """Trees that are compared, by a measure."""

    measure: str
    trees: tuple[TreesOfTreebank, ...]


class _Induction:
    """The cells and comparisons of a table."""

    def __init__(self, table: PlannedTable, layout: Layout) -> None:
        self.table = table
        self.treebanks = TableTreebanks(table, layout)
        self.measurements = InductionMeasurements(table, layout)

    def reason(self, cell: PlannedCell) -> str:
        """Say why a cell cannot be measured; empty if it can."""
        if cell.metric not in {*MEASURES_OF_METRICS, *MEASURES}:
            return f"{cell.metric} is no measure of induced trees"
        if cell.runs is None and cell.system not in BASELINES and not cell.reason:
            return f"{cell.system} has no trees"
        if reason := self.treebanks.reason(cell):
            return reason
        if not self.measurements.scored_words(_treebank(cell)):
            return f"{cell.split} has no word to score"
        return ""

    def scores(self, cell: PlannedCell, *, measure: str = "", untrained: bool = False) -> list[float]:
        """Return the score of each seed, by default by the cell's measure; none if there is a reason."""
        if self.reason(cell):
            return []
        trees = ScoredTrees(cell.runs or cell.system or "", untrained)
        return self.measurements.scores(_treebank(cell), trees, measure or measure_of(cell.metric))

    def compare(self, claim: PlannedClaim, runs: ComparedRuns) -> Compared:
        """Compare runs with each other, or with a baseline that knows no syntax."""
        tested = self.tested(claim, runs)
        return tested if isinstance(tested, str) else self.measurements.compare(*tested.trees, measure=tested.measure)

    def tested(self, claim: PlannedClaim, runs: ComparedRuns) -> _Tested | str:
        """Return what a claim compares by which measure, or say why nothing can be compared."""
        name = claim.claim["baseline"][0] if runs.baseline is None else runs.baseline
        if runs.baseline is None and name not in BASELINES:
            return f"{name} has no trees to compare"
        compared = [(runs.system, claim.split), (name, claim.split)]
        if runs.minus and claim.minus:
            compared += [(key, claim.minus.split) for key in runs.minus]
        tested = []
        for key, split in compared:
            own = self.table.runs.get(key)
            trained, dataset = (key, claim.dataset) if own is None else (own.system, own.dataset)
            place = {"dataset": dataset, "split": split, "metric": claim.claim["metric"]}
            cell = PlannedCell(row=trained, column="", system=trained, runs=own and key, **place)
            if reason := self.reason(cell):
                return reason
            tested.append(TreesOfTreebank(_treebank(cell), ScoredTrees(key)))
        for first, second in zip(tested[::2], tested[1::2], strict=True):
            if not self.measurements.same_trees(first.treebank, second.treebank):
                return f"{first.trees.name} and {second.trees.name} are not tested on the same trees"
        return _Tested(measure_of(claim.claim["metric"]), tuple(tested))


def induction_content(table: PlannedTable, layout: Layout) -> TableContent:
    """Score the trees of a table, those of untrained models and of random trees, and compare what claims are about."""
    own = _Induction(table, layout)
    blocks = divided_by_dataset(table.columns, lambda columns: _overview(own, columns))
    tested = [_tested(own, claim) for claim in table.claims]
    keys = dict.fromkeys(key for key in tested if not isinstance(key, str))
    results = {key: own.measurements.compare(*key.trees, measure=key.measure) for key in keys}
    holms = holm({key: result.p for key, result in results.items()})
    compared = [results.get(key, key) for key in tested]
    corrected = [holms.get(key) for key in tested]
    if compared:
        blocks += [Heading("Differences"), _differences(own, compared, corrected)]
    remarks = tuple(seed_items(table))
    blocks += [note(_NOTES), *([Items(remarks)] if remarks else [])]
    differences = [
        {
            "claim": claim.claim,
            "result": asdict(result) if isinstance(result, Difference) else None,
            "reason": None if isinstance(result, Difference) else result,
            "holm": p,
        }
        for claim, result, p in zip(table.claims, compared, corrected, strict=True)
    ]
    return TableContent(
        blocks=blocks, data={"scores": _score_data(own), "differences": differences}, compare=own.compare
    )


def measure_of(metric: str | None) -> str:
    """Return the measure that a metric of the paper stands for: one of `MEASURES`, if there is such a measure."""
    return MEASURES_OF_METRICS.get(metric or "", metric or "")


def _treebank(cell: PlannedCell) -> Treebank:
    return Treebank(cell.dataset or "", cell.split or "")


def _tested(own: _Induction, claim: PlannedClaim) -> _Tested | str:
    runs = claim.compared()
    return claim.reason or "there is no system to compare" if runs is None else own.tested(claim, runs)


def _overview(own: _Induction, shown: Sequence[PlannedColumn]) -> Table:
    """Tabulate the accuracy in some of the paper's columns."""
    columns = [*text_columns("trees")]
    for column in shown:
        columns.append(Column(name=f"{column.name}, published", content="number", digits=column.digits))
        columns.append(Column(name=column.name, content="mean", digits=1))
        if also := ALSO.get(measure_of(column.metric)):
            columns.append(Column(name=f"{column.name}, {MEASURES[also]}", content="mean", digits=1))
    rows = []
    for row in own.table.rows:
        rows.append(_row(own, shown, row.name, row.name + (" (added)" if row.added else "")))
        if any(_is_induced(own, own.table.cell(row.name, column.name)) for column in shown):
            rows.append(_row(own, shown, row.name, f"{row.name}, untrained (added)", untrained=True))
    first = own.table.rows[0].name if own.table.rows else None
    rows += [
        _row(own, shown, first, f"{name} (added)", trees=name)
        for name in sorted(BASELINES)
        if first is not None and name not in {row.name for row in own.table.rows}
    ]
    return make_table(columns, rows)


def _is_induced(own: _Induction, cell: PlannedCell) -> bool:
    return cell.runs is not None and own.treebanks.is_induced(cell.runs) and not own.reason(cell)


def _row(
    own: _Induction,
    shown: Sequence[PlannedColumn],
    row: str,
    label: str,
    *,
    untrained: bool = False,
    trees: str | None = None,
) -> list[Any]:
    """Make a row of the published table; or one that is added, of untrained models or of the baseline `trees`."""
    cells: list[Any] = [label]
    for column in shown:
        planned = own.table.cell(row, column.name)
        cell = planned if trees is None else _baseline_cell(planned, trees)
        cells.append(None if untrained or trees else cell.published)
        scored = not untrained or _is_induced(own, cell)
        measures = [measure_of(cell.metric), *filter(None, [ALSO.get(measure_of(cell.metric))])]
        for measure in measures:
            scores = own.scores(cell, measure=measure, untrained=untrained) if scored else []
            reason = "" if scores else own.reason(cell)
            cells.append(TableCell(_mean(scores), reason=reason, origin=cell.runs or cell.dataset or ""))
    return cells


def _baseline_cell(cell: PlannedCell, name: str) -> PlannedCell:
    """Return the cell of a baseline in the column of a cell."""
    place = {"dataset": cell.dataset, "split": cell.split, "metric": cell.metric}
    return PlannedCell(row=name, column=cell.column, system=name, **place, reason="" if cell.split else cell.reason)


def _mean(scores: Sequence[float]) -> SeedMean | None:
    return SeedMean.over(scores) if scores else None


def _differences(own: _Induction, compared: Sequence[Compared], corrected: Sequence[float | None]) -> Table:
    columns = [
        *text_columns("claim", "data set", "treebank", "metric", "system", "baseline"),
        *number_columns("seeds"),
        Column(name="published", content="number", digits=1, signed=True),
        *comparison_columns(),
        *number_columns("p", "Holm", content="p_value"),
    ]
    rows = []
    for planned, result, p in zip(own.table.claims, compared, corrected, strict=True):
        claim = claim_from_json(planned.claim)
        says = claim.says if claim.minus is None else f"{claim.says} ({claimed_text(claim)})"
        trained = [trained_name(named, claim.dataset) for named in (claim.system, claim.baseline)]
        names = [
            *(says, claim.dataset, claim.split, claim.metric, trained[0]),
            *with_origin([trained[1]], planned.baseline or planned.dataset),
        ]
        seeds, own_p = None, None
        if isinstance(result, Difference):
            seeds = len(own.table.runs[planned.system].seeds) if planned.system else None
            own_p = result.p
        cells = with_origin([seeds, *comparison_cells(result), own_p, p], planned.system or planned.dataset)
        rows.append([*names, cells[0], claim.difference, *cells[1:]])
    return make_table(columns, rows)


def _score_data(own: _Induction) -> list[dict[str, Any]]:
    entries = []
    for cell in own.table.cells:
        keys = ("row", "column", "published", "dataset", "split", "metric", "runs")
        reason = own.reason(cell)
        measures = {} if reason else {measure: own.scores(cell, measure=measure) for measure in MEASURES}
        untrained = (
            {measure: own.scores(cell, measure=measure, untrained=True) for measure in MEASURES}
            if _is_induced(own, cell)
            else {}
        )
        entries.append(
            {key: getattr(cell, key) for key in keys}
            | {"scores": measures, "untrained": untrained, "reason": reason or None}
        )
    return entries
