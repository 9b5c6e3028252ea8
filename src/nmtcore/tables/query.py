"""Frames: the numbers of a table as rows, each computed once; pages, charts, the report and the ledger read them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from nmtcore.config.typed import build, changed
from nmtcore.errors import UserError
from nmtcore.evaluation.attachment import percent
from nmtcore.evaluation.compare import (
    Difference,
    SampledScores,
    bootstrap_weights,
    difference_of,
    holm,
    sampled_scores,
    score_interval,
)
from nmtcore.evaluation.counts import SentenceCounts, empty_count, length_ratio
from nmtcore.evaluation.subsets import FEW, length_bins, long_sentences, read_subsets, read_translated
from nmtcore.parquet import open_file, read_rows, row_count, write_rows
from nmtcore.syntax.categories import FURTHER_CONSTRUCTIONS
from nmtcore.tables.cells import Cell, PlannedTable, trained_name
from nmtcore.tables.measures import measure_label, measure_named
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
    | dict.fromkeys(("empty", "baseline_empty"), pa.list_(pa.int64()))
    | dict.fromkeys(("delta", "low", "high", "p", "holm", "detectable"), pa.float64())
    | {"training_noise": pa.bool_(), "signature": pa.string(), "reason": pa.string()}
)
"""The columns of a frame of numbers; docs/tables.md says what they are."""

WITH_LENGTHS = ("bleu", "multi_bleu")
"""The scores that count the length of the translations."""

ALL = "all sentences"
"""The part that is the whole test."""

ITEMS = {"control": "control_raising", "total": ALL, None: ALL}
"""What items of the papers' tables are called here, if not the same."""

LONG = "long sentences"
"""What claims call the longest sentences of a test."""

LONGEST = "at least "
"""The beginning of what frames call them: at least so many words."""

SHARE, DEFAULT_SHARE = "share_of_long_sentences", 0.01
"""The fact that says which share of a test its long sentences are, and this share where the paper does not say."""

UNANALYSED = "without supertags"
"""The sentences of a test that could not be analysed."""

COUNT = "sentences"
"""The metric of columns that count the sentences with a construction."""


class Frame(NamedTuple):
    """A table as it was planned, and what was computed for it."""

    table: PlannedTable
    rows: list[Row]
    """What its page shows; of most kinds, with the columns `NUMBERS`."""
    claims: list[Row]
    """What claims about it compare, with the columns `NUMBERS`."""


def write_frame(frame: Frame, columns: pa.Schema, path: Path) -> None:
    """Write a frame whose rows have some columns; the plan of the table is JSON in the metadata of the file."""
    plan = json.dumps(changed(frame.table), ensure_ascii=False)
    schema = pa.unify_schemas([columns, NUMBERS]) if frame.claims else columns
    write_rows(path, schema.with_metadata({"plan": plan}), [*frame.rows, *frame.claims])


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
        return counts if rows_B is None else [own.rows(rows_B) for own in counts]

    def row(self, cell: Cell, rows_B: np.ndarray | None = None) -> Row:
        """Make the row of a cell, measured on its test or on some sentences."""
        row = plain_row(cell) | {"reason": self.reason(cell)}
        measure = measure_named(cell.measure)
        if not self.is_scored(cell):
            is_known = cell.source and measure and measure.values and not row["reason"]
            return row | {"values": measure.values(cell.source)} if is_known else row
        counts = self.counts(cell, rows_B)
        row |= {"sentences": len(counts[0]), "signature": counts[0].signature}
        row |= {"values": [own.corpus_score() for own in counts]}
        if cell.measure in WITH_LENGTHS:
            row |= {"length": fmean(map(length_ratio, counts)), "empty": list(map(empty_count, counts))}
        return row

    def interval(self, cell: Cell, rows_B: np.ndarray) -> Row:
        """Return the 95 % interval of the mean score of a cell on some sentences, as values of its row."""
        return dict(zip(("low", "high"), score_interval(self._scores(cell, rows_B)), strict=True))

    def difference(self, cell: Cell, baseline: Cell, rows_B: np.ndarray | None = None) -> Row:
        """Compare two cells by their scores on the same sentences, as values of a row.

        Raises `UserError` if the sentences differ.
        """
        if not self.have_same_test(cell, baseline):
            raise UserError(
                f"{cell.runs} and {baseline.runs} have different references of {cell.test}, so that they cannot be "
                "compared: delete the results of the older one and run the workflow again."
            )
        own, other = self._scores(cell, rows_B), self._scores(baseline, rows_B)
        if baseline.runs is None:
            # Such a baseline is not trained: its variance over seeds is known to be 0.
            seeds = len(own.scores)
            other = SampledScores([*other.scores] * seeds, np.repeat(other.sampled_RA, seeds, axis=0))
        return difference_values(difference_of(own, other))

    def compared(self, cell: Cell, baseline: Cell, rows_B: np.ndarray | None = None) -> Row:
        """Make the row of a cell that is compared with another one."""
        return self.row(cell, rows_B) | self.against(baseline, rows_B) | self.difference(cell, baseline, rows_B)

    def against(self, baseline: Cell, rows_B: np.ndarray | None) -> Row:
        """Return the baseline's side of a comparison, as values of a row."""
        other = self.row(baseline, rows_B)
        return {"baseline": other["row"]} | {f"baseline_{key}": other[key] for key in ("runs", "values", "empty")}

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
        results.compared(*pair) | {"published": _minus(*(own.published for own in pair)), "marks": ""} for pair in pairs
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


def correct(frame: Frame) -> None:
    """Add the p-values of `compared_rows` by Holm's method, corrected over the comparisons by the same measure."""
    rows, corrected = compared_rows(frame), {}
    for measure in dict.fromkeys(row["measure"] for row in rows):
        corrected |= holm({comparison_of(row): row["p"] for row in rows if row["measure"] == measure})
    for row in rows:
        row["holm"] = corrected[comparison_of(row)]


def claim_rows(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Yield what claims compare: of each, the system and then its controls, unless there is a reason not to."""
    for number, claim in enumerate(table.claims):
        pairs = [(claim.system, claim.baseline), *claim.controls]
        for position, (cell, baseline) in enumerate(pairs[:1] if claim.reason else pairs):
            test = claim.system.tested
            row = plain_row(cell) | {"reason": claim.reason or cell.reason}
            yield (row if row["reason"] else _claimed(table, results, cell, baseline)) | {
                **{"claim": number, "control": position - 1 if position else None},
                **{"row": trained_name(cell, test), "baseline": trained_name(baseline, test)},
                "column": "/".join(filter(None, (cell.tested, cell.split, cell.metric))),
                "published": None if position else claim.difference,
            }


def _claimed(table: PlannedTable, results: Results, cell: Cell, baseline: Cell) -> Row:
    """Compare two cells of a claim, or say why nothing is compared; few sentences are compared, with a reason."""
    for own in (cell, baseline):
        if reason := results.reason(own):
            return plain_row(cell) | {"reason": reason}
        if not results.is_scored(own):
            label = measure_label(own.measure)
            reason = f"{own.runs or own.system} has no {label}" if own.metric else "there is no score to compare"
            return plain_row(cell) | {"reason": reason}
    if cell.ours != baseline.ours and not results.have_same_test(cell, baseline):
        return plain_row(cell) | {"reason": f"{cell.runs} and {baseline.runs} are not tested on the same sentences"}
    if cell.item is None:
        return results.compared(cell, baseline)
    name, rows_B = claimed_part(parts_of(table, cell), cell.item)
    if rows_B is None:
        noun = "subset by length" if table.table_kind == "lengths" else "construction"
        return plain_row(cell) | {"reason": f"{cell.item} is no {noun}"}
    few = f"the subset ({name}) has {len(rows_B):,} of the test's sentences, and fewer than {FEW} are too few"
    if len(rows_B) < 2:
        return plain_row(cell) | {"reason": few}
    return results.compared(cell, baseline, rows_B) | {"reason": few if len(rows_B) < FEW else ""}


def construction_rows(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Yield the numbers of sentences with each construction, and what systems gain on them, below whole tests.

    A table that names constructions is a paper's, and has none of `FURTHER_CONSTRUCTIONS`.
    """
    yield from _whole_tests(table, results)
    for cell in table.cells:
        if cell.metric == COUNT:
            parts = parts_of(table, cell)
            name, rows_B = claimed_part(parts, cell.item)
            yield plain_row(cell) | (_unknown(cell) if rows_B is None else {**_size(name, rows_B, parts), "reason": ""})
    left_out = FURTHER_CONSTRUCTIONS if any(ITEMS.get(cell.item) != ALL for cell in table.cells) else {}
    compared: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in table.cells:
        if cell.metric != COUNT and cell.system and cell.system != _baseline(table, cell):
            compared.setdefault((cell.column, cell.system, cell.runs, cell.baseline_runs), []).append(cell)
    for cells in compared.values():
        parts = parts_of(table, cells[0])
        names = {
            name: rows_B
            for name, rows_B in parts.rows.items()
            if name == ALL or (len(rows_B) < parts.sentences and name not in left_out)
        }
        for cell in cells:
            name = claimed_part(parts, cell.item)[0]
            rows_B = names.pop(name, None)
            unknown = _unknown(cell) if rows_B is None and cell.source else {}
            yield _gain(table, results, cell, (name, rows_B), parts) | {"published": cell.published} | unknown
        for name, rows_B in names.items():
            yield _gain(table, results, cells[0], (name, rows_B), parts) | {"row": name}


def _unknown(cell: Cell) -> Row:
    return {"reason": cell.reason or f"{cell.item} is no construction"}


def length_rows(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Yield the scores of whole tests, those by length, and how these differ from the baseline's.

    Columns that measure the same, by one data set, are joined (`joined_columns`).
    """
    yield from _whole_tests(table, results)
    for columns in joined_columns(table):
        cells = [table.cell(row.name, columns[0]) for row in table.rows]
        parts = next((parts_of(table, cell) for cell in cells if cell.source), Parts(0, {LONG: np.arange(0)}))
        for part in parts.rows.items():
            for cell in cells:
                row = _on_part(results, cell, part, parts)
                yield row | (results.interval(cell, part[1]) if row["values"] and len(part[1]) > 1 else {})
                compared = _gain(table, results, cell, part, parts)
                if compared["baseline_values"]:
                    yield compared


def joined_columns(table: PlannedTable) -> list[list[str]]:
    """Join the columns that measure the same."""
    joined: dict[Any, list[str]] = {}
    for column in table.columns:
        cells = [table.cell(row.name, column.name) for row in table.rows]
        measured = tuple((cell.measure, cell.runs, cell.ours, cell.test, cell.reason) for cell in cells)
        joined.setdefault(measured, []).append(column.name)
    return list(joined.values())


def _whole_tests(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Yield a row per test of some runs and, of each that could not be analysed whole, one of what is missing."""
    for cell in measured_cells(table):
        parts = parts_of(table, cell)
        names = {"row": cell.system or cell.row, "published": None}
        own = results.row(cell) if results.is_scored(cell) else plain_row(cell)
        yield own | names | {"item": None, "sentences": parts.sentences}
        if parts.unanalysed:
            size = {"sentences": parts.unanalysed, "share": percent(parts.unanalysed, parts.sentences)}
            yield plain_row(cell) | names | {"item": UNANALYSED, **size}


def _size(name: str, rows_B: np.ndarray, parts: "Parts") -> Row:
    """Return the name of a part, its number of sentences, and their percentage of the test's, as values of a row."""
    return {"item": name, "sentences": len(rows_B), "share": percent(len(rows_B), parts.sentences)}


def _on_part(results: Results, cell: Cell, part: tuple[str, np.ndarray | None], parts: "Parts") -> Row:
    """Make the row of a cell on a part of its test, or of none, and say why nothing can be concluded from it."""
    name, rows_B = part
    size = _size(name, np.arange(0) if rows_B is None else rows_B, parts)
    if not results.is_scored(cell) or not size["sentences"]:
        reason = cell.reason or ("no sentences" if cell.source else "it is not run")
        return plain_row(cell) | size | {"reason": reason}
    return results.row(cell, rows_B) | size | {"reason": "a single sentence" if size["sentences"] == 1 else ""}


def _gain(
    table: PlannedTable, results: Results, cell: Cell, part: tuple[str, np.ndarray | None], parts: "Parts"
) -> Row:
    """Compare a cell with the table's first baseline on a part of its test.

    A single sentence, which says nothing about others, has no difference.
    """
    row = _on_part(results, cell, part, parts) | {"published": None, "baseline": _baseline(table, cell)}
    files = cell.source.get("files", {})
    if not row["values"] or "baseline" not in files or cell.baseline_runs == cell.runs:
        return row
    source = {**cell.source, "files": {**files, **files["baseline"]}}
    baseline = replace(cell, row=row["baseline"], runs=cell.baseline_runs, source=source)
    row |= results.against(baseline, part[1])
    return row | (results.difference(cell, baseline, part[1]) if row["sentences"] > 1 else {})


def _baseline(table: PlannedTable, cell: Cell) -> str:
    return table.compared_with.get(cell.system or "", (*table.baselines, "no baseline")[0])


class Parts(NamedTuple):
    """The sentences of each part of a test, and how many of the test could not be analysed."""

    sentences: int
    rows: Mapping[str, np.ndarray]
    """Their positions, from 0, by the name of the part."""
    unanalysed: int = 0


def parts_of(table: PlannedTable, cell: Cell) -> Parts:
    """Return the parts of a cell's test; none if the cell has no files."""
    if not cell.source:
        return Parts(0, {})
    files = cell.source["files"]
    translated = len(measure_named(cell.measure).counts(cell.source)[0]) if "counts" in files else None
    if "pairs" in files:
        return _by_length(files["pairs"], translated, table.facts.get(SHARE, DEFAULT_SHARE))
    return _by_construction(tuple(files["annotations"].items()), translated)


def claimed_part(parts: Parts, item: str) -> tuple[str, np.ndarray | None]:
    """Return what frames call a part of a test, and its sentences; None if the test has no such part."""
    longest = (name for name in parts.rows if name.startswith(LONGEST))
    name = next(longest, item) if item == LONG else ITEMS.get(item, item)
    return name, parts.rows.get(name)


@cache
def _by_construction(annotations: tuple[tuple[str, str], ...], translated: int | None) -> Parts:
    """Read all sentences and those with each construction or phrase."""
    sentences = row_count(Path(annotations[0][1])) if translated is None else translated
    rows, unanalysed = {ALL: np.arange(sentences)}, 0
    for name, path in annotations:
        side, _, column = name.partition(".")
        subsets = read_subsets(Path(path), column, sentences=sentences)
        unanalysed = max(unanalysed, subsets.unanalysed)
        rows |= {own if column == "ccg" else f"{own} in the {side}": rows_B for own, rows_B in subsets.rows.items()}
    return Parts(sentences, rows, unanalysed)


@cache
def _by_length(pairs: str, translated: int, share: float) -> Parts:
    """Read the longest sentences, and those of each bin of lengths."""
    words = [len(own) for own in read_translated(Path(pairs), "source_words", sentences=translated)]
    longest = long_sentences(words, share=share)
    return Parts(translated, {f"{LONGEST}{longest.fewest_words} words": longest.rows_B} | length_bins(words))
