"""Tables of parts of a test: what systems gain on constructions and phrases, or by length.

Shapes: B sentences.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nmtcore.evaluation.attachment import percent
from nmtcore.evaluation.compare import SAMPLES
from nmtcore.evaluation.subsets import FEW, length_bins, long_sentences, read_subsets, read_translated
from nmtcore.parquet import row_count
from nmtcore.syntax.categories import FURTHER_CONSTRUCTIONS
from nmtcore.tables.blocks import (
    Block,
    Column,
    Heading,
    Table,
    TableCell,
    estimate_column,
    item_blocks,
    make_table,
    note,
    number_columns,
    text_columns,
    with_origin,
)
from nmtcore.tables.cells import Cell, PlannedTable
from nmtcore.tables.measures import measure_label
from nmtcore.tables.query import Frame, Results, Row, measured_cells, plain_row, rows_by
from nmtcore.tables.sheets import difference_cell, empty_items, mean_cell, seed_items
from nmtcore.tables.sizes import ALL, CONSTRUCTION_NOTES, ITEMS

LONG = "long sentences"
"""What claims call the longest sentences of a test."""

ALL_BUT = "all but "
"""The beginning of what claims call the sentences of a test that are not in a part."""

LONGEST = "at least "
"""The beginning of what frames call them: at least so many words."""

SHARE, DEFAULT_SHARE = "share_of_long_sentences", 0.01
"""The fact that says which share of a test its long sentences are, and this share where the paper does not say."""

UNANALYSED = "without supertags"
"""The sentences of a test that could not be analysed."""

_NOTES = f"""
Few: fewer than {FEW} sentences, too few to conclude anything. Difference: from the baseline on the same sentences, ±
half its 95 % interval, which joins the variance over seeds with that over {SAMPLES:,} paired bootstrap samples.
"""
_FURTHER = f"""
{" and ".join(FURTHER_CONSTRUCTIONS)} are not among those of Aycock 2021: words such as "because", and prepositions
whose phrase modifies a verb phrase or a clause.
"""
_LENGTHS = """
Lengths are words of the source sentence. Long sentences: the longest {share:g} % of the test, and those that are as
long as the shortest of them. The bins are ours.
"""


class Parts(NamedTuple):
    """The sentences of each part of a test, and how many of the test could not be analysed."""

    sentences: int
    rows: Mapping[str, np.ndarray]
    """Their positions, from 0, by the name of the part."""
    unanalysed: int = 0


def parts_of(table: PlannedTable, results: Results, cell: Cell) -> Parts:
    """Return the parts of a cell's test; none if the cell has no files."""
    if not cell.source:
        return Parts(0, {})
    files = cell.source["files"]
    translated = len(results.counts(cell)[0]) if "counts" in files else None
    if "pairs" in files:
        return _by_length(files["pairs"], translated, table.facts.get(SHARE, DEFAULT_SHARE))
    return _by_construction(tuple(files["annotations"].items()), translated)


def claimed_part(parts: Parts, item: str | None) -> tuple[str, np.ndarray | None]:
    """Return what frames call a part of a test, and its sentences; None if the test has no such part."""
    if item is not None and item.startswith(ALL_BUT):
        name, rows_B = claimed_part(parts, item.removeprefix(ALL_BUT))
        return ALL_BUT + name, None if rows_B is None else np.setdiff1d(parts.rows[ALL], rows_B)
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
        rows |= {
            subset if column == "ccg" else f"{subset} in the {side}": rows_B for subset, rows_B in subsets.rows.items()
        }
    return Parts(sentences, rows, unanalysed)


@cache
def _by_length(pairs: str, translated: int, share: float) -> Parts:
    """Read the longest sentences, and those of each bin of lengths."""
    words = [len(sentence) for sentence in read_translated(Path(pairs), "source_words", sentences=translated)]
    longest = long_sentences(words, share=share)
    whole = {ALL: np.arange(translated), f"{LONGEST}{longest.fewest_words} words": longest.rows_B}
    return Parts(translated, whole | length_bins(words))


def part_rows(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Yield what systems gain on each part of their tests, below whole tests.

    A table that names constructions is a paper's, and has none of `FURTHER_CONSTRUCTIONS`.
    """
    yield from _whole_tests(table, results)
    left_out = FURTHER_CONSTRUCTIONS if any(ITEMS.get(cell.item) != ALL for cell in table.cells) else {}
    compared: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in table.cells:
        if cell.system and cell.system != _baseline(table, cell):
            compared.setdefault((cell.column, cell.system, cell.runs, cell.baseline_runs), []).append(cell)
    for cells in compared.values():
        parts = parts_of(table, results, cells[0])
        names = {
            name: rows_B
            for name, rows_B in parts.rows.items()
            if name == ALL or (len(rows_B) < parts.sentences and name not in left_out)
        }
        for cell in cells:
            name = claimed_part(parts, cell.item)[0]
            rows_B = names.pop(name, None)
            reason = cell.reason or f"{cell.item} is no construction"
            unknown = {"reason": reason} if rows_B is None and cell.source else {}
            named = {"row": cell.item or name, "published": cell.published}
            yield _gain(table, results, cell, (name, rows_B), parts) | named | unknown
        for name, rows_B in names.items():
            published = _published_on_long(table, cells[0]) if name.startswith(LONGEST) else None
            row = _gain(table, results, cells[0], (name, rows_B), parts)
            yield row | {"row": name, "published": published}


def _published_on_long(table: PlannedTable, cell: Cell) -> float | None:
    """Return the gain on long sentences that a claim of the paper names; None if it names none."""
    for claim in table.claims:
        claimed = claim.system
        is_gain = claimed.item == LONG and claim.compares == "difference"
        if is_gain and (claimed.tested, claimed.split, claimed.system) == (
            cell.tested, cell.split, cell.system
        ):  # fmt: skip
            return claim.difference
    return None


def _whole_tests(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Yield a row per test of some runs and, of each that could not be analysed whole, one of what is missing."""
    for cell in measured_cells(table):
        parts = parts_of(table, results, cell)
        names = {"row": cell.system or cell.row, "published": None}
        row = results.row(cell) if results.is_scored(cell) else plain_row(cell)
        yield row | names | {"item": None, "sentences": parts.sentences}
        if parts.unanalysed:
            size = {"sentences": parts.unanalysed, "share": percent(parts.unanalysed, parts.sentences)}
            yield plain_row(cell) | names | {"item": UNANALYSED, **size}


def _size(name: str, rows_B: np.ndarray, parts: Parts) -> Row:
    """Return the name of a part, its number of sentences, and their percentage of the test's, as values of a row."""
    return {"item": name, "sentences": len(rows_B), "share": percent(len(rows_B), parts.sentences)}


def _on_part(results: Results, cell: Cell, part: tuple[str, np.ndarray | None], parts: Parts) -> Row:
    """Make the row of a cell on a part of its test, or of none, and say why nothing can be concluded from it."""
    name, rows_B = part
    size = _size(name, np.arange(0) if rows_B is None else rows_B, parts)
    if not results.is_scored(cell) or not size["sentences"]:
        reason = cell.reason or ("no sentences" if cell.source else "it is not run")
        return plain_row(cell) | size | {"reason": reason}
    return results.row(cell, rows_B) | size | {"reason": "a single sentence" if size["sentences"] == 1 else ""}


def _gain(table: PlannedTable, results: Results, cell: Cell, part: tuple[str, np.ndarray | None], parts: Parts) -> Row:
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


def test_of(row: Row) -> str:
    """Name the test of a row."""
    return f"{row['dataset']}, {row['test']}"


def part_gains(frame: Frame) -> list[Row]:
    """List the rows of gains on parts of tests."""
    return [row for row in frame.rows if row["baseline"] is not None]


def part_blocks(frame: Frame) -> list[Block]:
    """Show what systems gain on each part of a test."""
    table, gains = frame.table, part_gains(frame)
    blocks = item_blocks(empty_items(frame))
    for (system, baseline, *_), rows in rows_by(gains, "system", "baseline", "column", "dataset", "test").items():
        blocks += [Heading(f"{test_of(rows[0])}: {system} and {baseline}"), _gain_table(table, rows)]
    if table.table_kind == "lengths":
        blocks.append(note(_LENGTHS.format(share=100 * table.facts.get(SHARE, DEFAULT_SHARE))))
    else:
        further = any(row["row"] in FURTHER_CONSTRUCTIONS for row in gains)
        blocks += [note(CONSTRUCTION_NOTES), *[note(_FURTHER)] * further]
    return [*blocks, note(_NOTES), *item_blocks([*_unanalysed(frame), *seed_items(table)])]


def _unanalysed(frame: Frame) -> Iterator[str]:
    whole = {test_of(row): row["sentences"] for row in frame.rows if row["item"] is None}
    for row in frame.rows:
        if row["item"] == UNANALYSED:
            of_test = f"{row['sentences']:,} of {whole[test_of(row)]:,} sentences"
            yield f"{test_of(row)}: {of_test} have no supertags of the reference."


def _size_cells(row: Row) -> list[TableCell]:
    """Make the cells of the number of sentences, with a mark if they are few or none, and of their share."""
    count = row["sentences"]
    mark = "" if count is None or count >= FEW else " (few)" if count else " (none)"
    known = row["share"] is not None
    return with_origin([TableCell(count, mark) if known else None, row["share"]], row["dataset"])


def _gain_table(table: PlannedTable, rows: Sequence[Row]) -> Table:
    first = rows[0]
    label, column = measure_label(first["measure"]), first["column"]
    digits = max(1, next(planned_column.digits for planned_column in table.columns if planned_column.name == column))
    published = any(row["published"] is not None for row in rows)
    columns = [
        *text_columns("subset"),
        *number_columns("sentences"),
        *number_columns("share, %", digits=1),
        *number_columns(f"{label} of {first['baseline']}", f"{label} of {first['system']}", content="mean", digits=1),
        *([Column(name=f"{column}, published", content="number", digits=digits, signed=True)] * published),
        estimate_column(column if published else "difference"),
    ]
    shown = [
        [
            *(row["row"], *_size_cells(row)),
            mean_cell({"values": row["baseline_values"], "runs": row["baseline_runs"], "reason": ""}),
            mean_cell(row)._replace(reason=""),
            *[row["published"]] * published,
            difference_cell(row, row["reason"] or "the baseline is not run"),
        ]
        for row in rows
    ]
    return make_table(columns, shown)
