"""Tables of scores by the length of the source sentence, with a figure."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nmtcore.config.planned_tables import ComparedRuns, PlannedCell, PlannedClaim, PlannedColumn, PlannedTable
from nmtcore.evaluation.compare import SAMPLES
from nmtcore.evaluation.lengths import length_bins, long_sentences
from nmtcore.evaluation.subsets import FEW, read_translated
from nmtcore.layout import Layout
from nmtcore.reporting.charts import draw_nothing, wrapped_title, write_svg
from nmtcore.reporting.difference_columns import difference_columns
from nmtcore.reporting.empty_translations import empty_runs
from nmtcore.reporting.lengths_figure import length_panel, length_points
from nmtcore.reporting.measurements import Measurements, Subset, measure_label
from nmtcore.reporting.seed_items import seed_items
from nmtcore.reporting.subset_scores import (
    compare_on_subset,
    difference_cells,
    few_mark,
    score_cells,
    score_columns,
    subset_scores,
)
from nmtcore.reporting.table import (
    Heading,
    Items,
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
from nmtcore.reporting.table_content import Compared, TableContent

LONG = "long sentences"
"""The name of the longest sentences of a test in claims."""

SHARE = "share_of_long_sentences"
"""The fact that says which share of a test (0 to 1) its long sentences are."""

DEFAULT_SHARE = 0.01
"""This share where the paper does not say."""

_NOTES = f"""
Lengths are words of the source sentence, before they are split into subwords. The paper does not say which lengths it
joins: the bins are ours. Long sentences: the longest {{share}} of the test, and those that are as long as the shortest
of them. Few: fewer than {FEW} sentences, too few to conclude anything. Scores are means over seeds, ± their standard
deviation if there are several. Difference: from {{baseline}} on the same sentences. 95 % intervals join the variance
over seeds with that over {SAMPLES:,} bootstrap samples of the subset's sentences, paired for differences.
"""


def lengths_content(table: PlannedTable, layout: Layout) -> TableContent:
    """Score the runs of a table by the length of the source sentence."""
    scores = _LengthScores(table, layout)
    entries = [entry for columns in scores.tests() for entry in scores.entries(columns)]
    baseline = table.baselines[0] if table.baselines else ""
    notes = _NOTES.format(share=f"{100 * scores.share:g} %", baseline=baseline or "the baseline")
    return TableContent(
        blocks=[
            *item_blocks(empty_runs(table, layout)),
            *(Heading("Long sentences"), _long_table(table, entries), Heading("By length"), _bins_table(entries)),
            *(note(notes), Items(tuple(dict.fromkeys(_items(table, entries))))),
        ],
        data={"baseline": baseline, "entries": entries},
        compare=scores.compare,
    )


class _LengthScores:
    """The scores of a table's runs on subsets by length."""

    def __init__(self, table: PlannedTable, layout: Layout) -> None:
        self._table, self._layout = table, layout
        self._measurements = Measurements(table, layout)
        self.share = float(table.facts.get(SHARE, DEFAULT_SHARE))

    def tests(self) -> list[list[PlannedColumn]]:
        """Join the columns that measure the same: one data set may stand in for several."""
        tests: dict[tuple[Any, ...], list[PlannedColumn]] = {}
        for column in self._table.columns:
            measured = tuple((cell.runs, cell.dataset, cell.split, cell.reason) for cell in self._cells(column))
            tests.setdefault((self._measure(column), *measured), []).append(column)
        return list(tests.values())

    def entries(self, columns: Sequence[PlannedColumn]) -> Iterator[dict[str, Any]]:
        """Yield an entry per subset and row of a test: what `subset_scores` returns, and names of test and columns."""
        cells, measure = self._cells(columns[0]), self._measure(columns[0])
        cell = next((cell for cell in cells if cell.runs and cell.dataset and cell.split), None)
        names = {"columns": [column.name for column in columns], "test": columns[0].name, "measure": measure}
        names["dataset"] = None
        subsets, words = [Subset(LONG, np.arange(0))], []
        if cell is not None:
            names |= {"test": f"{cell.dataset}, {cell.split}", "dataset": cell.dataset}
            words = self._words(cell.runs, cell.dataset, cell.split)
            bins = length_bins(words)
            subsets = [self._long(words), *(Subset(name, rows_B) for name, rows_B in bins.items())]
        for subset in subsets:
            for row, own in zip(self._table.rows, cells, strict=True):
                values = subset_scores(self._measurements, own, measure, subset, sentences=len(words))
                signature = self._signature(own, measure) if values["scores"] else None
                yield {**names, "row": row.name, "long": subset is subsets[0], **values, "signature": signature}

    def compare(self, claim: PlannedClaim, runs: ComparedRuns) -> Compared:
        """Compare runs on the sentences of a claim."""
        metric = claim.claim["metric"]
        if not claim.items:
            return self._measurements.compare_claimed(claim, runs)
        if runs.baseline is None or claim.dataset is None or claim.split is None or metric is None:
            return "there is no score to compare"
        measure = self._measurements.measure(metric)
        if unknown := [item for item in claim.items if item != LONG]:
            return f"{unknown[0]} is no subset by length"
        subset = self._long(self._words(runs.system, claim.dataset, claim.split))
        return compare_on_subset(self._measurements, (runs.system, runs.baseline, claim.split), measure, subset)

    def _cells(self, column: PlannedColumn) -> list[PlannedCell]:
        return [self._table.cell(row.name, column.name) for row in self._table.rows]

    def _measure(self, column: PlannedColumn) -> str:
        return self._measurements.measure(column.metric or "")

    def _words(self, runs: str, dataset: str, split: str) -> list[int]:
        """Return the number of source words of each sentence that is translated."""
        pairs = Path(self._layout.path("pairs", dataset=dataset, split=split))
        sentences = self._measurements.sentences(runs, split)
        return [len(words) for words in read_translated(pairs, "source_words", sentences=sentences)]

    def _long(self, words: Sequence[int]) -> Subset:
        longest = long_sentences(words, share=self.share)
        return Subset(f"at least {longest.fewest_words} words", longest.rows_B)

    def _signature(self, cell: PlannedCell, measure: str) -> str:
        return self._measurements.counts(cell.runs, cell.split, measure)[0].signature


def _long_table(table: PlannedTable, entries: Sequence[Mapping[str, Any]]) -> Table:
    """Tabulate the gains on long sentences, ours next to the published ones: a row per column and system."""
    gains = {
        (claim.claim["dataset"], claim.claim["split"], claim.claim["system"][0]): claim.claim["difference"]
        for claim in table.claims
        if claim.claim["item"] == LONG
    }
    columns = [
        *text_columns("column", "system", "baseline", "words"),
        *number_columns("sentences"),
        *number_columns("gain, published", digits=1),
        *difference_columns("gain"),
    ]
    rows: list[list[Any]] = []
    for column in table.columns:
        for entry in entries:
            cell = table.cell(entry["row"], column.name)
            if not entry["long"] or column.name not in entry["columns"] or entry["row"] in table.baselines[:1]:
                continue
            against = next((other for other in entries if _is_baseline(other, entry, table)), None)
            reason = entry["reason"] or (against and against["reason"]) or "there is no baseline"
            sentences = TableCell(entry["sentences"], few_mark(entry["sentences"])) if entry["sentences"] else None
            rows.append(
                [
                    *(column.name, entry["row"]),
                    *with_origin([against and against["row"]], cell.baseline_runs),
                    entry["subset"] if entry["sentences"] else None,
                    *with_origin([sentences], entry["dataset"]),
                    gains.get((column.dataset, column.split, cell.system)),
                    *with_origin(difference_cells(entry, reason=reason), cell.runs),
                ]
            )
    return make_table(columns, rows)


def _is_baseline(other: Mapping[str, Any], entry: Mapping[str, Any], table: PlannedTable) -> bool:
    names = ("columns", "subset")
    return other["row"] in table.baselines[:1] and all(other[name] == entry[name] for name in names)


def _bins_table(entries: Sequence[Mapping[str, Any]]) -> Table:
    """Tabulate all subsets: a row per test, subset and system."""
    labels = list(dict.fromkeys(measure_label(entry["measure"]) for entry in entries))
    columns = [
        *text_columns("test", "words", "system"),
        *number_columns("sentences"),
        *number_columns("share, %", digits=1),
        *score_columns(" or ".join(labels)),
    ]
    groups: dict[tuple[str, ...], list[list[Any]]] = {}
    for entry in entries:
        sentences = TableCell(entry["sentences"], few_mark(entry["sentences"]))
        scores = with_origin(score_cells(entry), entry["runs"])
        sizes = with_origin([sentences, entry["share"]], entry["dataset"])
        row = [entry["test"], entry["subset"], entry["row"], *sizes, *scores]
        if entry["runs"] is None and not entry["sentences"]:
            row[3:5] = [None, None]
        groups.setdefault(tuple(entry["columns"]), []).append(row)
    return grouped_table(columns, list(groups.values()))


def _items(table: PlannedTable, entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield sentences about stand-ins for several data sets, signatures and seeds."""
    for entry in entries:
        if len(entry["columns"]) > 1:
            yield f"{entry['test']}: the same for the columns {', '.join(entry['columns'])}."
        if entry["signature"]:
            yield f"{measure_label(entry['measure'])} of {entry['test']}: {entry['signature']}."
    yield from seed_items(table)


def draw_lengths(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw scores by length: a line with intervals per system, a panel per test."""
    import altair as alt

    points = list(length_points(data["entries"]))
    if not points:
        draw_nothing(figure, title=title, reason="No system of this figure has scores.")
        return
    systems = list(dict.fromkeys(point["system"] for point in points))
    tests = list(dict.fromkeys(point["test"] for point in points))
    panels = [length_panel([point for point in points if point["test"] == test], systems) for test in tests]
    write_svg(alt.vconcat(*panels, title=wrapped_title(title)), figure)
