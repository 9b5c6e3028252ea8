"""The parts of tests, and tables of them: constructions and phrases, and lengths.

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
    grouped_table,
    item_blocks,
    make_table,
    note,
    number_columns,
    percentage,
    text_columns,
    with_origin,
)
from nmtcore.tables.cells import Cell, PlannedTable
from nmtcore.tables.measures import measure_label
from nmtcore.tables.query import Frame, Results, Row, measured_cells, plain_row, rows_by
from nmtcore.tables.sheets import difference_cell, empty_items, mean_cell, published_cell, seed_items

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

_NOTES = f"""
Few: fewer than {FEW} sentences, too few to conclude anything. Difference: from the baseline on the same sentences, ±
half its 95 % interval, which joins the variance over seeds with that over {SAMPLES:,} paired bootstrap samples.
"""
_CONSTRUCTIONS = """
A sentence has a construction if its reference has a CCG supertag of it, and may have several; they are counted as by
the code of Aycock 2021.
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
        rows |= {
            subset if column == "ccg" else f"{subset} in the {side}": rows_B for subset, rows_B in subsets.rows.items()
        }
    return Parts(sentences, rows, unanalysed)


@cache
def _by_length(pairs: str, translated: int, share: float) -> Parts:
    """Read the longest sentences, and those of each bin of lengths."""
    words = [len(sentence) for sentence in read_translated(Path(pairs), "source_words", sentences=translated)]
    longest = long_sentences(words, share=share)
    return Parts(translated, {f"{LONGEST}{longest.fewest_words} words": longest.rows_B} | length_bins(words))


def construction_rows(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Yield the numbers of sentences with each construction, and what systems gain on them, below whole tests.

    A table that names constructions is a paper's, and has none of `FURTHER_CONSTRUCTIONS`.
    """
    yield from _whole_tests(table, results)
    for cell in table.cells:
        if cell.metric == COUNT:
            parts = parts_of(table, results, cell)
            name, rows_B = claimed_part(parts, cell.item)
            yield plain_row(cell) | (_unknown(cell) if rows_B is None else {**_size(name, rows_B, parts), "reason": ""})
    left_out = FURTHER_CONSTRUCTIONS if any(ITEMS.get(cell.item) != ALL for cell in table.cells) else {}
    compared: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in table.cells:
        if cell.metric != COUNT and cell.system and cell.system != _baseline(table, cell):
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
        parts = next((parts_of(table, results, cell) for cell in cells if cell.source), Parts(0, {LONG: np.arange(0)}))
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


def part_counts(frame: Frame) -> list[Row]:
    """List the rows that count the sentences with a construction, with the published percentage."""
    totals = {cell.column: cell.published for cell in frame.table.cells if ITEMS.get(cell.item) == ALL}
    rows = (row for row in frame.rows if row["measure"] == COUNT and row["item"] not in (None, UNANALYSED))
    return [row | {"published_share": percentage(row["published"], totals.get(row["column"]))} for row in rows]


def part_gains(frame: Frame) -> list[Row]:
    """List the rows of gains on parts of tests."""
    return [row for row in frame.rows if row["baseline"] is not None]


def construction_blocks(frame: Frame) -> list[Block]:
    """Show the numbers of sentences with each construction, and what systems gain on them."""
    counts, gains = part_counts(frame), part_gains(frame)
    blocks = item_blocks(empty_items(frame))
    blocks += [_count_table(counts)] if counts else []
    for (system, baseline, *_), rows in rows_by(gains, "system", "baseline", "column", "dataset", "test").items():
        blocks += [Heading(f"{test_of(rows[0])}: {system} and {baseline}"), _gain_table(frame.table, rows)]
    further = any(row["row"] in FURTHER_CONSTRUCTIONS for row in gains)
    blocks += [note(_CONSTRUCTIONS), *[note(_FURTHER)] * further, *[note(_NOTES)] * bool(gains)]
    return [*blocks, *item_blocks([*_unanalysed(frame), *(seed_items(frame.table) if gains else ())])]


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


def _count_table(counts: Sequence[Row]) -> Table:
    columns, rows = text_columns("subset"), {row["row"]: [row["row"]] for row in counts}
    for name in dict.fromkeys(row["column"] for row in counts):
        columns += number_columns(f"{name}, published")
        columns += number_columns(f"share of {name}, published, %", digits=1)
        columns += number_columns(name)
        columns += number_columns(f"share of {name}, %", digits=1)
    for row in counts:
        count, share = _size_cells(row)
        shown = [row["published"], row["published_share"], count._replace(reason=row["reason"]), share]
        rows[row["row"]] += shown
    return make_table(columns, list(rows.values()))


def _gain_table(table: PlannedTable, rows: Sequence[Row]) -> Table:
    first = rows[0]
    label, column = measure_label(first["measure"]), first["column"]
    digits = next(planned_column.digits for planned_column in table.columns if planned_column.name == column)
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


def length_blocks(frame: Frame) -> list[Block]:
    """Show the scores of all parts by length, and the gains on them."""
    share = 100 * frame.table.facts.get(SHARE, DEFAULT_SHARE)
    tests = {row["column"]: test_of(row) for row in frame.rows if row["item"] is not None and row["dataset"]}
    same = (
        f"{tests[columns[0]]}: the same for the columns {', '.join(columns)}."
        for columns in joined_columns(frame.table)
        if len(columns) > 1
    )
    blocks = [*item_blocks(empty_items(frame)), _length_table(frame), note(_LENGTHS.format(share=share)), note(_NOTES)]
    return [*blocks, *item_blocks([*same, *seed_items(frame.table)])]


def is_longest(row: Row) -> bool:
    """Return whether a row is about the longest sentences of a test."""
    return row["item"] == LONG or (row["item"] or "").startswith(LONGEST)


def length_scores(frame: Frame) -> list[Row]:
    """List the rows of scores by length."""
    return [row for row in frame.rows if row["baseline"] is None and row["item"] is not None]


def _length_table(frame: Frame) -> Table:
    """Tabulate all parts, a row per test, part and system; of long sentences with the published gains."""
    scores = length_scores(frame)
    compared = {(row["row"], row["column"], row["item"]): row for row in part_gains(frame)}
    joined = {names[0]: names for names in joined_columns(frame.table)}
    tests = {column.name: (column.dataset, column.split) for column in frame.table.columns}
    label = " or ".join(dict.fromkeys(measure_label(row["measure"]) for row in scores))
    published = {
        (claim.system.tested, claim.system.split, claim.system.system): claim.difference
        for claim in frame.table.claims
        if claim.system.item == LONG
    }
    columns = [
        *text_columns("test", "words", "system"),
        *number_columns("sentences"),
        *number_columns("share, %", digits=1),
        *number_columns(label, content="mean", digits=1),
        Column(name="difference, published", content="number", digits=1, signed=True),
        estimate_column(),
    ]
    groups: dict[str, list[list[Any]]] = {}
    for row in scores:
        columns_of = joined[row["column"]] if is_longest(row) else ()
        known = {name: published.get((*tests[name], row["system"])) for name in columns_of}
        test = row["column"] if row["share"] is None else test_of(row)
        gain = difference_cell(compared.get((row["row"], row["column"], row["item"])), row["reason"])
        shown = [test, row["item"], row["row"], *_size_cells(row), mean_cell(row), published_cell(known), gain]
        groups.setdefault(row["column"], []).append(shown)
    return grouped_table(columns, list(groups.values()))
