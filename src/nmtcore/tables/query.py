"""Frames: the numbers of a table as rows, each computed once; pages, charts, the report and the ledger read them.

Shapes: A draws, B sentences, R runs.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from nmtcore.config.typed import build, changed
from nmtcore.errors import UserError
from nmtcore.evaluation.compare import (
    Difference,
    SampledScores,
    Term,
    bootstrap_weights,
    contrast_of,
    correlation_of,
    holm,
    sampled_scores,
    values_without_sentences,
)
from nmtcore.evaluation.counts import SentenceCounts, empty_count, length_ratio
from nmtcore.parquet import open_file, read_rows, row_writer
from nmtcore.tables.cells import Cell, PlannedTable
from nmtcore.tables.measures import measure_named
from nmtcore.tables.trees import UNTRAINED

Row = dict[str, Any]
"""A row of a frame."""

NUMBERS = pa.schema(
    dict.fromkeys(("row", "column", "item", "system", "dataset", "test", "measure", "runs"), pa.string())
    | dict.fromkeys(("baseline", "baseline_runs"), pa.string())
    | dict.fromkeys(("claim", "control"), pa.int64())
    | {"published": pa.float64(), "marks": pa.string()}
    | dict.fromkeys(("values", "baseline_values"), pa.list_(pa.float64()))
    | {"sentences": pa.int64(), "share": pa.float64(), "length": pa.float64()}
    | {"empty": pa.list_(pa.int64())}
    | dict.fromkeys(("delta", "low", "high", "p", "holm", "detectable"), pa.float64())
    | {"training_noise": pa.bool_(), "signature": pa.string(), "reason": pa.string()}
)
"""The columns of a frame of numbers; docs/tables.md says what they are."""

WITH_LENGTHS = ("bleu", "multi_bleu")
"""The scores that count the length of the translations."""


class Frame(NamedTuple):
    """A table as it was planned, and what was computed for it."""

    table: PlannedTable
    rows: list[Row]
    """What its page shows, rows with the same keys; of most kinds, these are the columns `NUMBERS`."""
    claims: list[Row]
    """What claims about it compare, with the columns `NUMBERS`."""


def write_frame(frame: Frame, path: Path) -> None:
    """Write a frame; the plan of the table is JSON in the metadata of the file."""
    rows = [*frame.rows, *frame.claims]
    is_numbers = all(row.keys() == set(NUMBERS.names) for row in rows)
    names = dict.fromkeys(name for row in rows for name in row)
    content = pa.Table.from_pylist([dict.fromkeys(names) | row for row in rows], schema=NUMBERS if is_numbers else None)
    plan = json.dumps(changed(frame.table), ensure_ascii=False)
    with row_writer(path, content.schema.with_metadata({"plan": plan})) as file:
        file.write_batch(content)


def read_frame(path: str | Path) -> Frame:
    """Read a frame. Raises `UserError` if the file is missing or damaged."""
    with open_file(path) as file:
        plan = json.loads((file.schema_arrow.metadata or {}).get(b"plan", b"{}"))
    rows = list(read_rows(path))
    claims = [row for row in rows if row.get("claim") is not None]
    shown = [row for row in rows if row.get("claim") is None]
    return Frame(build(PlannedTable, plan, where=str(path)), shown, claims)


class Results:
    """The values of a table's cells, and their differences; each is computed once."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}

    def reason(self, cell: Cell) -> str:
        """Say why a cell has no value; empty if it has one, or if nobody expects one."""
        measure = measure_named(cell.measure)
        return measure.lacks(cell.source) if cell.source and measure and measure.lacks else cell.reason

    def is_scored(self, cell: Cell) -> bool:
        """Return whether a cell has scores that can be compared."""
        measure = measure_named(cell.measure)
        return bool(cell.source and measure and measure.counts and not self.reason(cell))

    def counts(self, cell: Cell, rows_B: np.ndarray | None = None) -> list[SentenceCounts]:
        """Return the counts of each seed of a cell with a score, or of some sentences."""
        counts = self._once(_key(cell), lambda: measure_named(cell.measure).counts(cell.source))
        return counts if rows_B is None else [seed.rows(rows_B) for seed in counts]

    def row(self, cell: Cell, rows_B: np.ndarray | None = None) -> Row:
        """Make the row of a cell, measured on its test or on some sentences."""
        row = plain_row(cell) | {"reason": self.reason(cell)}
        measure = measure_named(cell.measure)
        if not self.is_scored(cell):
            is_known = cell.source and measure and measure.values and not row["reason"]
            return row | {"values": measure.values(cell.source)} if is_known else row
        counts = self.counts(cell, rows_B)
        row |= {"sentences": len(counts[0]), "signature": counts[0].signature}
        row |= {"values": [seed.corpus_score() for seed in counts]}
        if cell.measure in WITH_LENGTHS:
            row |= {"length": fmean(map(length_ratio, counts)), "empty": list(map(empty_count, counts))}
        return row

    def _term(self, weight: float, cell: Cell, rows_B: np.ndarray | None = None) -> Term:
        """Return a cell as a term of a weighted sum; numbers that are no scores vary over seeds alone."""
        if not self.is_scored(cell):
            return Term(weight, values_without_sentences(self.row(cell)["values"]), cell.runs or cell.system)
        test = (self.counts(cell)[0].test, None if rows_B is None else rows_B.tobytes())
        return Term(weight, self._scores(cell, rows_B), cell.runs or cell.system, test)

    def difference(self, cell: Cell, baseline: Cell, rows_B: np.ndarray | None = None) -> Row:
        """Compare two cells by their scores on the same sentences, as values of a row.

        Raises `UserError` if the sentences differ.
        """
        if self.is_scored(cell) and not self.have_same_test(cell, baseline):
            raise UserError(
                f"{cell.runs} and {baseline.runs} have different references of {cell.test}, so that they cannot be "
                "compared: delete the results of the older one and run the workflow again."
            )
        term, other = self._term(1, cell, rows_B), self._term(-1, baseline, rows_B)
        if baseline.runs is None:
            # Such a baseline is not trained: its variance over seeds is known to be 0.
            scores, sampled_RA = other.sampled
            seeds = len(term.sampled.scores)
            sampled = SampledScores([*scores] * seeds, np.repeat(sampled_RA, seeds, axis=0))
            other = other._replace(sampled=sampled)
        return difference_values(contrast_of([term, other]))

    def contrast(self, terms: Iterable[tuple[float, Cell, np.ndarray | None]]) -> Row:
        """Compare a weighted sum of cells, each measured on its test or on some sentences, with 0: values of a row.

        Its `values` are the mean scores of the cells.
        """
        weighted = [self._term(*term) for term in terms]
        means = [fmean(term.sampled.scores) for term in weighted]
        return difference_values(contrast_of(weighted)) | {"values": means}

    def correlation(self, pairs: Iterable[tuple[Cell, Cell]]) -> Row:
        """Correlate two measures of systems, whose seeds are averaged, within the data sets of the first measure.

        Returns values of a row, or a reason if too few systems differ.
        """
        groups: dict[tuple[Any, ...], list[tuple[float, ...]]] = {}
        # A stand-in for several data sets has the same runs, which count once.
        for pair in {tuple(map(_key, pair)): pair for pair in pairs}.values():
            means = tuple(fmean(self._term(1, cell).sampled.scores) for cell in pair)
            groups.setdefault((pair[0].ours, pair[0].test), []).append(means)
        correlation = correlation_of([*groups.values()])
        if correlation is None:
            return {"reason": "too few systems, or all are equal"}
        return difference_values(correlation) | {
            "values": [mean for group in groups.values() for mean in sum(group, ())]
        }

    def compared(self, cell: Cell, baseline: Cell, rows_B: np.ndarray | None = None) -> Row:
        """Make the row of a cell that is compared with another one."""
        return self.row(cell, rows_B) | self.against(baseline, rows_B) | self.difference(cell, baseline, rows_B)

    def against(self, baseline: Cell, rows_B: np.ndarray | None) -> Row:
        """Return the baseline's side of a comparison, as values of a row."""
        other = self.row(baseline, rows_B)
        return {"baseline": other["row"], "baseline_runs": other["runs"], "baseline_values": other["values"]}

    def have_same_test(self, cell: Cell, baseline: Cell) -> bool:
        """Return whether two cells are of the same sentences."""
        return self.counts(cell)[0].test == self.counts(baseline)[0].test

    def _scores(self, cell: Cell, rows_B: np.ndarray | None) -> SampledScores:
        def sampled() -> SampledScores:
            counts = self.counts(cell, rows_B)
            weights_AB = self._once(len(counts[0]), lambda: bootstrap_weights(len(counts[0])))
            return sampled_scores(counts, weights_AB)

        return self._once((_key(cell), None if rows_B is None else rows_B.tobytes()), sampled)

    def _once(self, key: Any, computed: Callable[[], Any]) -> Any:
        """Return what was computed for a key the first time."""
        if key not in self._known:
            self._known[key] = computed()
        return self._known[key]


def _key(cell: Cell) -> str:
    return json.dumps(cell.source, sort_keys=True)


def plain_row(cell: Cell) -> Row:
    """Make the row of a cell, without anything computed."""
    names = {key: getattr(cell, key) for key in ("row", "column", "item", "system", "measure", "runs", "published")}
    more = {"dataset": cell.ours, "test": cell.test, "marks": cell.marks, "values": [], "reason": cell.reason}
    return dict.fromkeys(NUMBERS.names) | names | more


def difference_values(difference: Difference) -> Row:
    """Return a difference as values of a row."""
    low, high = difference.interval
    values = {"delta": difference.delta, "low": low, "high": high, "p": difference.p}
    return values | {"detectable": difference.detectable, "training_noise": difference.with_training_noise}


def rows_by(rows: Iterable[Row], *keys: str) -> dict[tuple[Any, ...], list[Row]]:
    """Group rows by some of their values, in the order of the first ones."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def measured_cells(table: PlannedTable) -> list[Cell]:
    """List the cells that are measured, each test of some runs once."""
    cells = {(cell.runs, cell.source.get("split")): cell for cell in reversed(table.cells) if cell.source}
    return list(cells.values())[::-1]


def number_rows(table: PlannedTable, results: Results) -> list[Row]:
    """List the rows of a grid of numbers: its cells, and the differences from the baselines."""
    pairs = sorted(_pairs(table, results), key=lambda pair: pair[0].measure == "chrf")
    compared = [
        results.compared(*pair) | {"published": _minus(*(cell.published for cell in pair)), "marks": ""}
        for pair in pairs
    ]
    return [*map(results.row, table.cells), *compared]


def _pairs(table: PlannedTable, results: Results) -> Iterator[tuple[Cell, Cell]]:
    """Yield the cells of a column and those that they are compared with; of added columns, those of chrF alone."""
    for column in table.columns:
        if column.added and column.measure != "chrf":
            continue
        for position, name in enumerate(table.baselines):
            baseline = table.cell(name, column.name)
            for row in table.rows:
                cell = table.cell(row.name, column.name)
                if (
                    table.is_compared(row, position)
                    and not row.name.endswith(UNTRAINED)
                    and cell.runs not in (None, baseline.runs)
                    and results.is_scored(cell)
                    and results.is_scored(baseline)
                ):
                    yield cell, baseline


def _minus(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else round(first - second, 10)


def comparison_of(row: Row) -> tuple[Any, ...]:
    """Name the comparison behind a row, which a data set that stands in for several has in several places."""
    return row["measure"], row["runs"], row["baseline_runs"] or row["baseline"], row["test"]


def compared_rows(frame: Frame) -> list[Row]:
    """List the differences from the baselines or, without baselines, those of claims about whole tests."""
    rows = frame.rows if frame.table.baselines else [row for row in frame.claims if row["control"] is None]
    return [row for row in rows if row["delta"] is not None and row["item"] is None]


def comparisons_of(frame: Frame) -> list[list[Row]]:
    """Join the rows of each comparison, a row for each of its places in the table."""
    comparisons: dict[Any, list[Row]] = {}
    for row in compared_rows(frame):
        comparisons.setdefault(comparison_of(row), []).append(row)
    return list(comparisons.values())


def correct(frame: Frame) -> None:
    """Add the p-values of `compared_rows` by Holm's method, corrected over the comparisons by the same measure."""
    rows, corrected = compared_rows(frame), {}
    for measure in dict.fromkeys(row["measure"] for row in rows):
        corrected |= holm({comparison_of(row): row["p"] for row in rows if row["measure"] == measure})
    for row in rows:
        row["holm"] = corrected[comparison_of(row)]
