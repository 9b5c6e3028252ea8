"""The sentences of tests with each syntactic construction, and the scores of a table's runs on them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nmtcore.config.planned_tables import ComparedRuns, PlannedCell, PlannedClaim, PlannedTable
from nmtcore.evaluation.subsets import read_subsets
from nmtcore.layout import Layout
from nmtcore.parquet import row_count
from nmtcore.reporting.constructions_table import ALL
from nmtcore.reporting.measurements import Measurements, Subset
from nmtcore.reporting.subset_scores import compare_on_subset, subset_scores
from nmtcore.reporting.table import percentage
from nmtcore.reporting.table_content import Compared

COUNT = "sentences"
"""The metric of columns that count the sentences with a construction."""

CONSTRUCTION_OF = {"control": "control_raising", "total": ALL}
"""What items of the paper's tables are called here, if not the same."""


class ConstructionScores:
    """The sentences of tests with each construction, and the scores of a table's runs on them."""

    def __init__(self, table: PlannedTable, layout: Layout) -> None:
        self._table = table
        self._measurements = Measurements(table, layout)
        self._supertags: Mapping[str, Mapping[str, str]] = table.more.get("supertags", {})

    def counts(self) -> Iterator[dict[str, Any]]:
        """Yield an entry per cell that counts sentences."""
        totals = {cell.column: cell.published for cell in self._table.cells if _subset_of(cell) == ALL}
        for cell in self._table.cells:
            if cell.metric != COUNT:
                continue
            entry = {
                "row": cell.row,
                "column": cell.column,
                "test": f"{cell.dataset}, {cell.split}",
                "published": cell.published,
                "published_share": percentage(cell.published, totals.get(cell.column)),
                **{"sentences": None, "share": None, "unanalysed": 0, "test_sentences": None},
            }
            path = self._path(cell.dataset, cell.split)
            if path is None:
                yield {**entry, "reason": self._missing(cell)}
                continue
            sentences = row_count(path)
            subsets, unanalysed = self._subsets(path, sentences)
            subset = next((own for own in subsets if own.name == _subset_of(cell)), None)
            entry |= {"unanalysed": unanalysed, "test_sentences": sentences}
            if subset is None:
                yield {**entry, "reason": f"{cell.item} is no construction"}
            else:
                count = len(subset.rows_B)
                yield {**entry, "sentences": count, "share": percentage(count, sentences), "reason": None}

    def gains(self) -> Iterator[dict[str, Any]]:
        """Yield an entry per construction of each comparison, those of the table's rows first."""
        comparisons: dict[tuple[Any, ...], list[PlannedCell]] = {}
        for cell in self._table.cells:
            if cell.metric != COUNT and cell.system not in (None, *self._table.baselines[:1]):
                names = (cell.column, cell.system, cell.runs, cell.baseline_runs, cell.dataset, cell.split)
                comparisons.setdefault(names, []).append(cell)
        for cells in comparisons.values():
            yield from self._comparison(cells)

    def _comparison(self, cells: Sequence[PlannedCell]) -> Iterator[dict[str, Any]]:
        first = cells[0]
        path = self._path(first.dataset, first.split)
        subsets, unanalysed, sentences = [], 0, 0
        if path is not None and first.runs is not None:
            sentences = self._measurements.sentences(first.runs, first.split)
            subsets, unanalysed = self._subsets(path, sentences)
        by_name = {subset.name: subset for subset in subsets}
        rows = [(cell, by_name.pop(_subset_of(cell), None)) for cell in cells]
        rows += [(None, subset) for subset in by_name.values()]
        for cell, subset in rows:
            values = self._gain(cell or first, subset or Subset("", np.arange(0)), sentences)
            if subset is None:
                values |= {"reason": self._missing(first) if not subsets else f"{cell.item} is no construction"}
            yield {
                **values,
                "row": cell.row if cell else subset.name,
                "column": first.column,
                "test": f"{first.dataset}, {first.split}",
                "dataset": first.dataset,
                "baseline": self._table.baselines[0] if self._table.baselines else "no baseline",
                "published": cell.published if cell else None,
                "unanalysed": unanalysed,
                "test_sentences": sentences,
            }

    def _gain(self, cell: PlannedCell, subset: Subset, sentences: int) -> dict[str, Any]:
        measure = self._measure(cell.metric or "")
        values = subset_scores(self._measurements, cell, measure, subset, sentences=sentences)
        names = {
            "measure": measure, "baseline_runs": cell.baseline_runs, "baseline_scores": None, "signature": None,
        }  # fmt: skip
        if values["difference"]:
            names["baseline_scores"] = self._measurements.scores(cell.baseline_runs, cell.split, measure, subset.rows_B)
            names["signature"] = self._measurements.counts(cell.runs, cell.split, measure)[0].signature
        return values | names

    def compare(self, claim: PlannedClaim, runs: ComparedRuns) -> Compared:
        """Compare runs on the sentences of a claim."""
        metric = claim.claim["metric"]
        if runs.baseline is None or claim.split is None or metric in (None, COUNT):
            return "there is no score to compare"
        measure = self._measure(metric)
        if not claim.items:
            return self._measurements.compare_claimed(claim, runs, measure=measure)
        path = self._path(claim.dataset, claim.split)
        if path is None:
            return _without_supertags(claim.dataset)
        sentences = self._measurements.sentences(runs.system, claim.split)
        subsets = {subset.name: subset for subset in self._subsets(path, sentences)[0]}
        named = {item: CONSTRUCTION_OF.get(item, item) for item in claim.items}
        if unknown := [item for item, name in named.items() if name not in subsets]:
            return f"{unknown[0]} is no construction"
        names = (runs.system, runs.baseline, claim.split)
        return compare_on_subset(self._measurements, names, measure, *(subsets[name] for name in named.values()))

    def _measure(self, metric: str) -> str:
        return self._measurements.measure(metric)

    def _path(self, dataset: str | None, split: str | None) -> Path | None:
        path = self._supertags.get(dataset or "", {}).get(split or "")
        return None if path is None else Path(path)

    def _missing(self, cell: PlannedCell) -> str:
        """Say why nothing can be computed for a cell."""
        return cell.reason or _without_supertags(cell.dataset)

    @staticmethod
    def _subsets(path: Path, sentences: int) -> tuple[list[Subset], int]:
        """Return all sentences and those with each construction, and the number of sentences without an analysis."""
        subsets = read_subsets(path, "ccg", sentences=sentences)
        rows = {ALL: np.arange(sentences), **subsets.rows}
        return [Subset(name, rows_B) for name, rows_B in rows.items()], subsets.unanalysed


def _subset_of(cell: PlannedCell) -> str:
    return ALL if cell.item is None else CONSTRUCTION_OF.get(cell.item, cell.item)


def _without_supertags(dataset: str | None) -> str:
    return f"{dataset} names no annotator for ccg of the target side"
