"""Tables of parts of a test, by constructions and phrases or by length: their sentences, scores and gains.

Shapes: B sentences.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nmtcore.evaluation.compare import SAMPLES
from nmtcore.evaluation.subsets import FEW, length_bins, long_sentences, read_subsets, read_translated
from nmtcore.parquet import row_count
from nmtcore.reporting.empty_translations import empty_translations
from nmtcore.reporting.results import Compared, PartOfTest, Results, measure_label
from nmtcore.reporting.seed_items import seed_items
from nmtcore.syntax.categories import FURTHER_CONSTRUCTIONS
from nmtcore.tables.blocks import (
    Block,
    Column,
    Heading,
    Interval,
    SeedMean,
    Table,
    TableCell,
    estimate_cell,
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
from nmtcore.tables.scores import stored_counts

ALL = "all sentences"
"""The name of the part that is the whole test."""

ITEMS = {"control": "control_raising", "total": ALL, None: ALL}
"""What items of the papers' tables are called here, if not the same."""

LONG = "long sentences"
"""The name of the longest sentences of a test in claims."""

SHARE, DEFAULT_SHARE = "share_of_long_sentences", 0.01
"""The fact that says which share of a test its long sentences are, and this share where the paper does not say."""

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

Entry = dict[str, Any]
"""The sentences of a part, the scores of a system on them, and its difference from the baseline."""


class Parts(NamedTuple):
    """The parts of a test, by name, and how many of its sentences could not be analysed."""

    sentences: int
    parts: dict[str, PartOfTest]
    unanalysed: int = 0


def parts_of(table: PlannedTable, cell: Cell) -> Parts:
    """Return the parts of a cell's test; none if the cell has no files."""
    if not cell.source:
        return Parts(0, {})
    files = cell.source["files"]
    translated = len(stored_counts(cell.source)[0]) if "counts" in files else None
    if "pairs" in files:
        return _by_length(files["pairs"], translated, table.facts.get(SHARE, DEFAULT_SHARE))
    return _by_construction(tuple(files["annotations"].items()), translated)


@cache
def _by_construction(annotations: tuple[tuple[str, str], ...], translated: int | None) -> Parts:
    """Read all sentences and those with each construction or phrase."""
    sentences = row_count(Path(annotations[0][1])) if translated is None else translated
    parts, unanalysed = {ALL: PartOfTest(ALL, np.arange(sentences))}, 0
    for name, path in annotations:
        side, _, column = name.partition(".")
        subsets = read_subsets(Path(path), column, sentences=sentences)
        unanalysed = max(unanalysed, subsets.unanalysed)
        for subset, rows_B in subsets.rows.items():
            label = subset if column == "ccg" else f"{subset} in the {side}"
            parts[label] = PartOfTest(label, rows_B)
    return Parts(sentences, parts, unanalysed)


@cache
def _by_length(pairs: str, translated: int, share: float) -> Parts:
    """Read the longest sentences, and those of each bin of lengths."""
    words = [len(own) for own in read_translated(Path(pairs), "source_words", sentences=translated)]
    longest = long_sentences(words, share=share)
    parts = {LONG: PartOfTest(f"at least {longest.fewest_words} words", longest.rows_B)}
    return Parts(translated, parts | {name: PartOfTest(name, rows_B) for name, rows_B in length_bins(words).items()})


def compare_parts(table: PlannedTable, results: Results, cell: Cell, baseline: Cell) -> Compared:
    """Compare the cells of a claim, on the part of the test that it names."""
    if cell.item is None or not cell.source or not baseline.source:
        return results.compare_claimed(cell, baseline)
    part = parts_of(table, cell).parts.get(ITEMS.get(cell.item, cell.item))
    if part is None:
        noun = "subset by length" if table.table_kind == "lengths" else "construction"
        return f"{cell.item} is no {noun}"
    return results.compare_claimed(cell, baseline, part)


def _entry(results: Results, cell: Cell, part: PartOfTest | None, divided: Parts) -> Entry:
    """Score a cell on a part of its test, and compare it with the table's first baseline.

    A single sentence, which says nothing about others, has no interval and no difference.
    """
    count = 0 if part is None else len(part.rows_B)
    entry: Entry = {
        "row": cell.row, "column": cell.column, "system": cell.system, "runs": cell.runs, "dataset": cell.ours,
        "baseline_runs": cell.baseline_runs, "test": f"{cell.ours}, {cell.test}", "measure": cell.measure,
        "sentences": count, "share": percentage(count, divided.sentences), "unanalysed": divided.unanalysed,
        "test_sentences": divided.sentences, "published": None, "scores": None, "interval": None, "difference": None,
        "baseline_scores": None, "empty": None, "baseline_empty": None, "signature": None,
        "reason": "a single sentence" if count == 1 else "",
    }  # fmt: skip
    if not results.is_scored(cell) or not count:
        return entry | {"reason": cell.reason or ("no sentences" if cell.source else "it is not run")}
    entry |= {"scores": results.values(cell, part), "empty": results.empty(cell, part)}
    entry["signature"] = results.counts(cell)[0].signature
    files = cell.source["files"]
    if "baseline" in files and cell.baseline_runs != cell.runs:
        source = {**cell.source, "files": {**files, **files["baseline"]}}
        baseline = replace(cell, runs=cell.baseline_runs, source=source)
        entry |= {"baseline_scores": results.values(baseline, part), "baseline_empty": results.empty(baseline, part)}
        entry["difference"] = results.compare(cell, baseline, part) if count > 1 else None
    return entry | {"interval": results.interval(cell, part) if count > 1 else None}


def _size_cells(entry: Entry) -> list[TableCell]:
    """Make the cells of the number of sentences, with a mark if they are few or none, and of their share."""
    count = entry["sentences"]
    mark = "" if count is None or count >= FEW else " (few)" if count else " (none)"
    known = count is not None and entry["share"] is not None
    return with_origin([TableCell(count, mark) if known else None, entry["share"]], entry["dataset"])


def _mean_cell(scores: Sequence[float] | None, runs: str | None, reason: str = "") -> TableCell:
    return TableCell(SeedMean.over(scores), origin=runs or "") if scores else TableCell(None, reason=reason)


def _difference_cell(entry: Entry, reason: str = "") -> TableCell:
    compared = entry["difference"]
    return (
        TableCell(None, reason=reason) if compared is None else with_origin([estimate_cell(compared)], entry["runs"])[0]
    )


def construction_entries(table: PlannedTable, results: Results) -> tuple[list[Entry], list[Entry]]:
    """List an entry per cell that counts sentences, and one per construction of each comparison."""
    return list(_counts(table, results)), list(_gains(table, results))


def _counts(table: PlannedTable, results: Results) -> Iterator[Entry]:
    totals = {cell.column: cell.published for cell in table.cells if ITEMS.get(cell.item) == ALL}
    for cell in table.cells:
        if cell.metric == COUNT:
            divided = parts_of(table, cell)
            part = divided.parts.get(ITEMS.get(cell.item, cell.item))
            own = {"published": cell.published, "published_share": percentage(cell.published, totals.get(cell.column))}
            unknown = {"sentences": None, "share": None, "reason": cell.reason or f"{cell.item} is no construction"}
            yield _entry(results, cell, part, divided) | own | ({"reason": ""} if part else unknown)


def _gains(table: PlannedTable, results: Results) -> Iterator[Entry]:
    """Yield the entries of each comparison, those of the table's rows first.

    A table that names constructions is a paper's, and has none of `FURTHER_CONSTRUCTIONS`.
    """
    left_out = FURTHER_CONSTRUCTIONS if any(ITEMS.get(cell.item) != ALL for cell in table.cells) else {}
    comparisons: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in table.cells:
        if cell.metric != COUNT and cell.system and cell.system != _baseline(table, cell):
            comparisons.setdefault((cell.column, cell.system, cell.runs, cell.baseline_runs), []).append(cell)
    for cells in comparisons.values():
        divided = parts_of(table, cells[0])
        parts = {
            name: part
            for name, part in divided.parts.items()
            if name == ALL or (len(part.rows_B) < divided.sentences and name not in left_out)
        }
        for cell in cells:
            part = parts.pop(ITEMS.get(cell.item, cell.item), None)
            unknown = {"reason": f"{cell.item} is no construction"} if part is None and cell.source else {}
            yield _gain(table, results, cell, part, divided) | {"published": cell.published} | unknown
        for part in parts.values():
            yield _gain(table, results, cells[0], part, divided) | {"row": part.name}


def _gain(table: PlannedTable, results: Results, cell: Cell, part: PartOfTest | None, divided: Parts) -> Entry:
    return _entry(results, cell, part, divided) | {"baseline": _baseline(table, cell)}


def _baseline(table: PlannedTable, cell: Cell) -> str:
    return table.compared_with.get(cell.system or "", (*table.baselines, "no baseline")[0])


def construction_blocks(table: PlannedTable, counts: Sequence[Entry], gains: Sequence[Entry]) -> list[Block]:
    """Show the numbers of sentences with each construction, and what systems gain on them."""
    blocks = item_blocks(empty_translations(table))
    blocks += [_count_table(counts)] if counts else []
    comparisons: dict[tuple[str, ...], list[Entry]] = {}
    for entry in gains:
        comparisons.setdefault((entry["test"], entry["system"], entry["baseline"], entry["column"]), []).append(entry)
    for (test, system, baseline, _), entries in comparisons.items():
        blocks += [Heading(f"{test}: {system} and {baseline}"), _gain_table(table, entries)]
    unanalysed = (
        f"{entry['test']}: {entry['unanalysed']:,} of {entry['test_sentences']:,} sentences have no supertags of the "
        "reference."
        for entry in (*counts, *gains)
        if entry["unanalysed"]
    )
    further = any(entry["row"] in FURTHER_CONSTRUCTIONS for entry in gains)
    blocks += [note(_CONSTRUCTIONS), *[note(_FURTHER)] * further, *[note(_NOTES)] * bool(gains)]
    return [*blocks, *item_blocks([*unanalysed, *(seed_items(table) if gains else ())])]


def _count_table(counts: Sequence[Entry]) -> Table:
    columns, rows = text_columns("subset"), {entry["row"]: [entry["row"]] for entry in counts}
    for name in dict.fromkeys(entry["column"] for entry in counts):
        columns += number_columns(f"{name}, published")
        columns += number_columns(f"share of {name}, published, %", digits=1)
        columns += number_columns(name)
        columns += number_columns(f"share of {name}, %", digits=1)
    for entry in counts:
        count, share = _size_cells(entry)
        rows[entry["row"]] += [
            *(entry["published"], entry["published_share"], count._replace(reason=entry["reason"]), share)
        ]
    return make_table(columns, list(rows.values()))


def _gain_table(table: PlannedTable, entries: Sequence[Entry]) -> Table:
    first = entries[0]
    label = measure_label(first["measure"])
    digits = next(column.digits for column in table.columns if column.name == first["column"])
    published = any(entry["published"] is not None for entry in entries)
    empty = any(entry["empty"] or entry["baseline_empty"] for entry in entries)
    columns = [
        *text_columns("subset"),
        *number_columns("sentences"),
        *number_columns("share, %", digits=1),
        *number_columns(f"{label} of {first['baseline']}", f"{label} of {first['system']}", content="mean", digits=1),
        *number_columns(*[f"empty of {first['baseline']}", f"empty of {first['system']}"] * empty, digits=1),
        *([Column(name=f"{first['column']}, published", content="number", digits=digits, signed=True)] * published),
        estimate_column(first["column"] if published else "difference"),
        Column(name="signature", detail=True),
    ]
    rows = [
        [
            *(entry["row"], *_size_cells(entry)),
            _mean_cell(entry["baseline_scores"], entry["baseline_runs"]),
            _mean_cell(entry["scores"], entry["runs"]),
            *with_origin([entry["baseline_empty"]], entry["baseline_runs"])[:empty],
            *with_origin([entry["empty"]], entry["runs"])[:empty],
            *[entry["published"]] * published,
            _difference_cell(entry, entry["reason"] or "the baseline is not run"),
            entry["signature"],
        ]
        for entry in entries
    ]
    return make_table(columns, rows)


def length_entries(table: PlannedTable, results: Results) -> list[Entry]:
    """List an entry per part and row of a test. Columns that measure the same, by one data set, are joined."""
    joined: dict[Any, list[str]] = {}
    for column in table.columns:
        cells = [table.cell(row.name, column.name) for row in table.rows]
        measured = tuple((cell.measure, cell.runs, cell.ours, cell.test, cell.reason) for cell in cells)
        joined.setdefault(measured, []).append(column.name)
    entries = []
    for columns in joined.values():
        cells = [table.cell(row.name, columns[0]) for row in table.rows]
        divided = next((parts_of(table, cell) for cell in cells if cell.source), None)
        names = {"columns": columns} if divided else {"columns": columns, "test": columns[0], "dataset": None}
        divided = divided or Parts(0, {LONG: PartOfTest(LONG, np.arange(0))})
        entries += [
            {**_entry(results, cell, part, divided), **names, "subset": part.name, "long": name == LONG}
            for name, part in divided.parts.items()
            for cell in cells
        ]
    return entries


def length_blocks(table: PlannedTable, entries: Sequence[Entry]) -> list[Block]:
    """Show the gains on long sentences, and all parts by length."""
    same = (
        f"{entry['test']}: the same for the columns {', '.join(entry['columns'])}."
        for entry in entries
        if len(entry["columns"]) > 1
    )
    return [
        *item_blocks(empty_translations(table)),
        *(Heading("Long sentences"), _long_table(table, entries), Heading("By length"), _bins_table(entries)),
        note(_LENGTHS.format(share=100 * table.facts.get(SHARE, DEFAULT_SHARE))),
        note(_NOTES),
        *item_blocks([*same, *seed_items(table)]),
    ]


def _long_table(table: PlannedTable, entries: Sequence[Entry]) -> Table:
    """Tabulate the gains on long sentences, ours next to the published ones: a row per column and system."""
    gains: Mapping[Any, float | None] = {
        (claim.system.tested, claim.system.split, claim.system.system): claim.difference
        for claim in table.claims
        if claim.system.item == LONG
    }
    columns = [
        *text_columns("column", "system", "baseline", "words"),
        *number_columns("sentences"),
        *number_columns("gain, published", digits=1),
        estimate_column("gain"),
    ]
    baseline = table.baselines[0] if table.baselines else None
    rows: list[list[Any]] = []
    for column in table.columns:
        for entry in entries:
            if not entry["long"] or column.name not in entry["columns"] or entry["row"] == baseline:
                continue
            cell = table.cell(entry["row"], column.name)
            other = table.cell(baseline, column.name).reason if baseline else "there is no baseline"
            rows.append(
                [
                    *(column.name, entry["row"]),
                    *with_origin([baseline], cell.baseline_runs),
                    entry["subset"] if entry["sentences"] else None,
                    _size_cells(entry)[0],
                    gains.get((column.dataset, column.split, cell.system)),
                    _difference_cell(entry, entry["reason"] or other),
                ]
            )
    return make_table(columns, rows)


def _bins_table(entries: Sequence[Entry]) -> Table:
    """Tabulate all parts: a row per test, part and system."""
    empty = any(entry["empty"] for entry in entries)
    label = " or ".join(dict.fromkeys(measure_label(entry["measure"]) for entry in entries))
    columns = [
        *text_columns("test", "words", "system"),
        *number_columns("sentences"),
        *number_columns("share, %", digits=1),
        Column(name=label, content="mean", digits=1),
        *number_columns(*["empty"] * empty, digits=1),
        Column(name=f"95 % interval of {label}", content="interval", digits=1, detail=True),
        estimate_column(),
        Column(name="signature", detail=True),
    ]
    groups: dict[tuple[str, ...], list[list[Any]]] = {}
    for entry in entries:
        interval = with_origin([entry["interval"] and Interval(*entry["interval"])], entry["runs"])
        mean = _mean_cell(entry["scores"], entry["runs"], entry["reason"])
        empties = with_origin([entry["empty"]], entry["runs"])[:empty]
        row = [entry["test"], entry["subset"], entry["row"], *_size_cells(entry), mean, *empties, *interval]
        groups.setdefault(tuple(entry["columns"]), []).append([*row, _difference_cell(entry), entry["signature"]])
    return grouped_table(columns, list(groups.values()))
