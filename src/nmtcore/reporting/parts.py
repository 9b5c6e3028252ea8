"""Tables of parts of a test: by syntactic constructions and phrases, and by the length of the source sentence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nmtcore.config.cells import GridCell
from nmtcore.config.planned_tables import PlannedTable
from nmtcore.evaluation.compare import SAMPLES
from nmtcore.evaluation.lengths import length_bins, long_sentences
from nmtcore.evaluation.subsets import FEW, read_subsets, read_translated
from nmtcore.measures.scores import stored_counts
from nmtcore.parquet import row_count
from nmtcore.reporting.charts import draw_nothing, write_svg
from nmtcore.reporting.constructions_figure import count_bars, count_panel, difference_panel, gain_points
from nmtcore.reporting.difference_columns import difference_columns
from nmtcore.reporting.empty_translations import empty_translations
from nmtcore.reporting.lengths_figure import length_panel, length_points
from nmtcore.reporting.results import Compared, PartOfTest, Results, measure_label
from nmtcore.reporting.seed_items import seed_items
from nmtcore.reporting.table import (
    Block,
    Column,
    Heading,
    Interval,
    SeedMean,
    Table,
    TableCell,
    grouped_table,
    item_blocks,
    make_table,
    note,
    number_columns,
    percentage,
    text_columns,
    with_origin,
)

ALL = "all sentences"
"""The name of the part that is the whole test."""

ITEMS = {"control": "control_raising", "total": ALL}
"""What items of the papers' tables are called here, if not the same."""

COUNT = "sentences"
"""The metric of columns that count the sentences with a construction."""

LONG = "long sentences"
"""The name of the longest sentences of a test in claims."""

SHARE, DEFAULT_SHARE = "share_of_long_sentences", 0.01
"""The fact that says which share of a test its long sentences are, and this share where the paper does not say."""

_CONSTRUCTIONS = f"""
A sentence has a construction if its reference has a CCG supertag of it, and may have several. Share: percentage of the
test's sentences. Few: fewer than {FEW} sentences, too few to conclude anything.
"""
_GAINS = f"""
Scores are means over seeds, ± their standard deviation if there are several; a gain is the difference from the baseline
on the same sentences. Its 95 % interval joins the variance over seeds with that over {SAMPLES:,} paired bootstrap
samples of the part's sentences. Rows without a published number are added.
"""
_LENGTHS = f"""
Lengths are words of the source sentence, before they are split into subwords. The paper does not say which lengths it
joins: the bins are ours. Long sentences: the longest {{share}} of the test, and those that are as long as the shortest
of them. Few: fewer than {FEW} sentences, too few to conclude anything. Scores are means over seeds, ± their standard
deviation if there are several. Difference: from {{baseline}} on the same sentences. 95 % intervals join the variance
over seeds with that over {SAMPLES:,} bootstrap samples of the part's sentences, paired for differences.
"""


class _Parts(NamedTuple):
    """The parts of a test, by name, and how many of its sentences could not be analysed."""

    sentences: int
    parts: dict[str, PartOfTest]
    unanalysed: int


class _Test:
    """The parts of the tests of a table."""

    def __init__(self, table: PlannedTable) -> None:
        self.share = float(table.facts.get(SHARE, DEFAULT_SHARE))

    def parts_of(self, cell: GridCell) -> _Parts:
        """Return the parts of a cell's test."""
        files = cell.source["files"]
        translated = len(stored_counts(cell.source)[0]) if "counts" in files else None
        if "pairs" in files:
            return _by_length(files["pairs"], translated, self.share)
        return _by_construction(tuple(files["annotations"].items()), translated)


@cache
def _by_construction(annotations: tuple[tuple[str, str], ...], translated: int | None) -> _Parts:
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
    return _Parts(sentences, parts, unanalysed)


@cache
def _by_length(pairs: str, translated: int, share: float) -> _Parts:
    """Read the longest sentences, and those of each bin of lengths."""
    words = [len(own) for own in read_translated(Path(pairs), "source_words", sentences=translated)]
    longest = long_sentences(words, share=share)
    parts = {LONG: PartOfTest(f"at least {longest.fewest_words} words", longest.rows_B)}
    return _Parts(
        translated, parts | {name: PartOfTest(name, rows_B) for name, rows_B in length_bins(words).items()}, 0
    )


def compare_parts(table: PlannedTable, results: Results, cell: GridCell, baseline: GridCell) -> Compared:
    """Compare the cells of a claim, on the part of the test that it names."""
    if cell.item is None or not cell.source or not baseline.source:
        return results.compare_claimed(cell, baseline)
    parts = _Test(table).parts_of(cell).parts
    part = parts.get(ITEMS.get(cell.item, cell.item))
    if part is None:
        noun = "subset by length" if table.table_kind == "lengths" else "construction"
        return f"{cell.item} is no {noun}"
    return results.compare_claimed(cell, baseline, part)


def _scored(results: Results, cell: GridCell, baseline: GridCell | None, part: PartOfTest | None) -> dict[str, Any]:
    """Score a cell on a part of its test and compare it with the baseline, as plain values.

    `interval` is None for a single sentence, which says nothing about others.
    """
    count = 0 if part is None else len(part.rows_B)
    values: dict[str, Any] = {
        "sentences": count, "system": cell.system, "runs": cell.runs, "scores": None, "interval": None,
        "difference": None, "measure": cell.measure, "baseline_scores": None, "signature": None,
        "baseline_runs": cell.baseline_runs, "reason": None,
    }  # fmt: skip
    if not results.is_scored(cell) or not count:
        return values | {"reason": cell.reason or ("no sentences" if cell.source else "it is not run")}
    values["scores"] = results.values(cell, part)
    values["interval"] = results.interval(cell, part) if count > 1 else None
    values["signature"] = results.counts(cell)[0].signature
    if baseline is not None and baseline.runs != cell.runs and results.is_scored(baseline):
        values["difference"] = asdict(results.compare(cell, baseline, part))
        values["baseline_scores"] = results.values(baseline, part)
    return values


def _baseline_of(cell: GridCell) -> GridCell | None:
    """Return the cell of the table's first baseline for the same test."""
    if "baseline" not in cell.source.get("files", {}):
        return None
    files = cell.source["files"]
    source = {**cell.source, "files": {**files, **files["baseline"]}}
    return replace(cell, runs=cell.baseline_runs, source=source)


def construction_entries(table: PlannedTable, results: Results) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """List an entry per cell that counts sentences, and one per construction of each comparison."""
    tests = _Test(table)
    return list(_counts(table, tests)), list(_gains(table, results, tests))


def _counts(table: PlannedTable, tests: _Test) -> Iterator[dict[str, Any]]:
    totals = {cell.column: cell.published for cell in table.cells if _part_of(cell) == ALL}
    for cell in table.cells:
        if cell.metric != COUNT:
            continue
        divided = tests.parts_of(cell) if cell.source else _Parts(0, {}, 0)
        part = divided.parts.get(_part_of(cell))
        count = None if part is None else len(part.rows_B)
        yield {
            "row": cell.row,
            "column": cell.column,
            "test": f"{cell.dataset}, {cell.split}",
            "published": cell.published,
            "published_share": percentage(cell.published, totals.get(cell.column)),
            "sentences": count,
            "share": percentage(count, divided.sentences),
            "unanalysed": divided.unanalysed,
            "test_sentences": divided.sentences,
            "reason": None if part else cell.reason or f"{cell.item} is no construction",
        }


def _gains(table: PlannedTable, results: Results, tests: _Test) -> Iterator[dict[str, Any]]:
    """Yield the entries of each comparison, those of the table's rows first."""
    comparisons: dict[tuple[Any, ...], list[GridCell]] = {}
    for cell in table.cells:
        if cell.metric != COUNT and cell.system not in (None, *table.baselines[:1]):
            comparisons.setdefault((cell.column, cell.system, cell.runs, cell.baseline_runs), []).append(cell)
    for first, *others in comparisons.values():
        divided = tests.parts_of(first) if first.source else _Parts(0, {}, 0)
        parts = {
            name: part for name, part in divided.parts.items() if name == ALL or len(part.rows_B) < divided.sentences
        }
        rows = [(cell, parts.pop(_part_of(cell), None)) for cell in (first, *others)]
        for cell, part in (*rows, *((None, part) for part in parts.values())):
            values = _scored(results, cell or first, _baseline_of(cell or first), part)
            if part is None and first.source:
                values |= {"reason": f"{cell.item} is no construction"}
            yield {
                **values,
                "share": percentage(values["sentences"], divided.sentences),
                "row": cell.row if cell else part.name,
                "column": first.column,
                "test": f"{first.dataset}, {first.split}",
                "dataset": first.dataset,
                "baseline": table.baselines[0] if table.baselines else "no baseline",
                "published": cell.published if cell else None,
                "unanalysed": divided.unanalysed,
                "test_sentences": divided.sentences,
            }


def _part_of(cell: GridCell) -> str:
    return ALL if cell.item is None else ITEMS.get(cell.item, cell.item)


def construction_blocks(
    table: PlannedTable, counts: Sequence[Mapping[str, Any]], gains: Sequence[Mapping[str, Any]]
) -> list[Block]:
    """Show the numbers of sentences with each construction, and what systems gain on them."""
    blocks = item_blocks(empty_translations(table))
    blocks += [_count_table(table, counts)] if counts else []
    comparisons: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for entry in gains:
        comparisons.setdefault((entry["test"], entry["system"], entry["baseline"], entry["column"]), []).append(entry)
    for (test, system, baseline, _), entries in comparisons.items():
        blocks += [Heading(f"{test}: {system} and {baseline}"), _gain_table(table, entries)]
    blocks += [note(_CONSTRUCTIONS + (_GAINS.lstrip("\n") if gains else ""))]
    return [*blocks, *item_blocks([*_items([*counts, *gains]), *(seed_items(table) if gains else ())])]


def _count_table(table: PlannedTable, counts: Sequence[Mapping[str, Any]]) -> Table:
    columns = [*text_columns("subset")]
    for name in dict.fromkeys(entry["column"] for entry in counts):
        columns += number_columns(f"{name}, published")
        columns += number_columns(f"share of {name}, published, %", digits=1)
        columns += number_columns(name)
        columns += number_columns(f"share of {name}, %", digits=1)
    rows = []
    for row in dict.fromkeys(entry["row"] for entry in counts):
        cells: list[Any] = [row]
        for entry in counts:
            if entry["row"] == row:
                ours = TableCell(entry["sentences"], few_mark(entry["sentences"]), reason=entry["reason"] or "")
                measured = with_origin([ours, entry["share"]], table.cell(row, entry["column"]).dataset)
                cells += [entry["published"], entry["published_share"], *measured]
        rows.append(cells)
    return make_table(columns, rows)


def few_mark(sentences: int | None) -> str:
    """Return the mark of a part that is empty, or too small to conclude anything from."""
    return "" if sentences is None or sentences >= FEW else " (few)" if sentences else " (none)"


def _mean(scores: Sequence[float] | None) -> SeedMean | None:
    return None if scores is None else SeedMean.over(scores)


def _difference(entry: Mapping[str, Any], *, reason: str = "") -> list[TableCell]:
    """Make the cells of a difference and its interval; `reason` says why there is none."""
    compared = entry["difference"]
    if compared is None:
        return [TableCell(None, reason=reason), TableCell(None)]
    return [
        TableCell(compared["delta"]),
        TableCell(Interval(*compared["interval"]) if entry["sentences"] > 1 else None),
    ]


def _gain_table(table: PlannedTable, entries: Sequence[Mapping[str, Any]]) -> Table:
    first = entries[0]
    label = measure_label(first["measure"])
    digits = next(column.digits for column in table.columns if column.name == first["column"])
    published = any(entry["published"] is not None for entry in entries)
    columns = [
        *text_columns("subset"),
        *number_columns("sentences"),
        *number_columns("share, %", digits=1),
        *number_columns(f"{label} of {first['baseline']}", f"{label} of {first['system']}", content="mean", digits=1),
        *([Column(name=f"{first['column']}, published", content="number", digits=digits, signed=True)] * published),
        *difference_columns(first["column"] if published else "difference"),
    ]
    rows = []
    for entry in entries:
        sentences = None if entry["share"] is None else TableCell(entry["sentences"], few_mark(entry["sentences"]))
        rows.append(
            [
                entry["row"],
                *with_origin([sentences, entry["share"]], entry["dataset"]),
                *with_origin([_mean(entry["baseline_scores"])], entry["baseline_runs"]),
                *with_origin([_mean(entry["scores"])], entry["runs"]),
                *[entry["published"]] * published,
                *with_origin(_difference(entry, reason=entry["reason"] or "the baseline is not run"), entry["runs"]),
            ]
        )
    return make_table(columns, rows)


def _items(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield sentences about missing analyses and signatures."""
    for entry in entries:
        if entry["unanalysed"]:
            share = f"{entry['unanalysed']:,} of {entry['test_sentences']:,} sentences"
            yield f"{entry['test']}: {share} have no supertags of the reference."
        if entry.get("signature"):
            yield f"{measure_label(entry['measure'])} of {entry['test']}: {entry['signature']}."


def length_entries(table: PlannedTable, results: Results) -> list[dict[str, Any]]:
    """List an entry per part and row of a test. Columns that measure the same, by one data set, are joined."""
    tests, joined, entries = _Test(table), {}, []
    for column in table.columns:
        cells = [table.cell(row.name, column.name) for row in table.rows]
        measured = tuple((cell.runs, cell.dataset, cell.split, cell.reason) for cell in cells)
        joined.setdefault((column.measure, measured), []).append(column.name)
    for (measure, _), columns in joined.items():
        cells = [table.cell(row.name, columns[0]) for row in table.rows]
        cell = next((cell for cell in cells if cell.source), None)
        divided = _Parts(0, {LONG: PartOfTest(LONG, np.arange(0))}, 0) if cell is None else tests.parts_of(cell)
        names = {"columns": columns, "test": columns[0], "measure": measure, "dataset": None}
        if cell is not None:
            names |= {"test": f"{cell.dataset}, {cell.split}", "dataset": cell.dataset}
        for name, part in divided.parts.items():
            for own in cells:
                values = _scored(results, own, _baseline_of(own), part)
                share = percentage(len(part.rows_B), divided.sentences)
                entries.append(
                    {**values, **names, "row": own.row, "subset": part.name, "long": name == LONG, "share": share}
                )
    return entries


def length_blocks(table: PlannedTable, entries: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Show the gains on long sentences, and all parts by length."""
    baseline = table.baselines[0] if table.baselines else "the baseline"
    return [
        *item_blocks(empty_translations(table)),
        *(Heading("Long sentences"), _long_table(table, entries), Heading("By length"), _bins_table(entries)),
        note(_LENGTHS.format(share=f"{100 * float(table.facts.get(SHARE, DEFAULT_SHARE)):g} %", baseline=baseline)),
        *item_blocks(_length_items(table, entries)),
    ]


def _long_table(table: PlannedTable, entries: Sequence[Mapping[str, Any]]) -> Table:
    """Tabulate the gains on long sentences, ours next to the published ones: a row per column and system."""
    gains = {
        (planned.claim.dataset, planned.claim.split, planned.claim.system.system): planned.claim.difference
        for planned in table.claims
        if planned.claim.item == LONG
    }
    columns = [
        *text_columns("column", "system", "baseline", "words"),
        *number_columns("sentences"),
        *number_columns("gain, published", digits=1),
        *difference_columns("gain"),
    ]
    baseline = table.baselines[0] if table.baselines else None
    rows: list[list[Any]] = []
    for column in table.columns:
        for entry in entries:
            cell = table.cell(entry["row"], column.name)
            if not entry["long"] or column.name not in entry["columns"] or entry["row"] == baseline:
                continue
            reason = entry["reason"] or (
                table.cell(baseline, column.name).reason if baseline else "there is no baseline"
            )
            sentences = TableCell(entry["sentences"], few_mark(entry["sentences"])) if entry["sentences"] else None
            rows.append(
                [
                    *(column.name, entry["row"]),
                    *with_origin([baseline], cell.baseline_runs),
                    entry["subset"] if entry["sentences"] else None,
                    *with_origin([sentences], entry["dataset"]),
                    gains.get((column.dataset, column.split, cell.system)),
                    *with_origin(_difference(entry, reason=reason), cell.runs),
                ]
            )
    return make_table(columns, rows)


def _bins_table(entries: Sequence[Mapping[str, Any]]) -> Table:
    """Tabulate all parts: a row per test, part and system."""
    label = " or ".join(dict.fromkeys(measure_label(entry["measure"]) for entry in entries))
    columns = [
        *text_columns("test", "words", "system"),
        *number_columns("sentences"),
        *number_columns("share, %", digits=1),
        Column(name=label, content="mean", digits=1),
        Column(name=f"95 % interval of {label}", content="interval", digits=1),
        *difference_columns(),
    ]
    groups: dict[tuple[str, ...], list[list[Any]]] = {}
    for entry in entries:
        sizes = [TableCell(entry["sentences"], few_mark(entry["sentences"])), entry["share"]]
        if entry["runs"] is None and not entry["sentences"]:
            sizes = [None, None]
        score = TableCell(_mean(entry["scores"]), reason="" if entry["scores"] else entry["reason"])
        scores = [score, entry["interval"] and Interval(*entry["interval"]), *_difference(entry)]
        row = [entry["test"], entry["subset"], entry["row"], *with_origin(sizes, entry["dataset"])]
        groups.setdefault(tuple(entry["columns"]), []).append([*row, *with_origin(scores, entry["runs"])])
    return grouped_table(columns, list(groups.values()))


def _length_items(table: PlannedTable, entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield sentences about stand-ins for several data sets, signatures and seeds."""
    for entry in entries:
        if len(entry["columns"]) > 1:
            yield f"{entry['test']}: the same for the columns {', '.join(entry['columns'])}."
        if entry["signature"]:
            yield f"{measure_label(entry['measure'])} of {entry['test']}: {entry['signature']}."
    yield from seed_items(table)


def draw_constructions(data: Any, figure: Path, *, title: str) -> None:
    """Draw the numbers of sentences with each construction as bars, and gains as points with intervals."""
    import altair as alt

    counts, gains = data
    points = list(gain_points(gains))
    systems = list(dict.fromkeys(point["system"] for point in points))
    panels = [
        difference_panel([point for point in points if point["panel"] == panel], systems)
        for panel in dict.fromkeys(point["panel"] for point in points)
    ]
    if bars := list(count_bars(counts)):
        panels.insert(0, count_panel(bars))
    if not panels:
        draw_nothing(figure, title=title, reason="No test of this figure has supertags, or no system has scores.")
        return
    write_svg(alt.vconcat(*panels), figure)


def draw_lengths(entries: Sequence[Mapping[str, Any]], figure: Path, *, title: str) -> None:
    """Draw scores by length: a line with intervals per system, a panel per test."""
    import altair as alt

    points = list(length_points(entries))
    if not points:
        draw_nothing(figure, title=title, reason="No system of this figure has scores.")
        return
    systems = list(dict.fromkeys(point["system"] for point in points))
    tests = list(dict.fromkeys(point["test"] for point in points))
    panels = [length_panel([point for point in points if point["test"] == test], systems) for test in tests]
    write_svg(alt.vconcat(*panels), figure)
