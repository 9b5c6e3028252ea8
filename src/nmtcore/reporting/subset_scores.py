"""Scores of runs on a subset of a test, with intervals and the difference from a baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean, stdev
from typing import Any

from nmtcore.config.planned_tables import PlannedCell
from nmtcore.evaluation.subsets import FEW
from nmtcore.reporting.difference_columns import difference_columns
from nmtcore.reporting.measurements import Measurements, Subset
from nmtcore.reporting.table import Column, Interval, SeedMean, TableCell, percentage
from nmtcore.reporting.table_content import Compared, Undecided


def subset_scores(
    measurements: Measurements, cell: PlannedCell, measure: str, subset: Subset, *, sentences: int
) -> dict[str, Any]:
    """Score the runs of a cell on a subset of its test, and compare them with those of the baseline.

    Returns plain values: the `subset`, its `sentences` and their `share` of the test's in percent, `system`, `runs`,
    the `scores` of each seed, their `interval` (None for a single sentence, which says nothing about others), the
    `difference`, and the `reason` why there are no scores.
    """
    runs, count = cell.runs, len(subset.rows_B)
    values: dict[str, Any] = {
        "subset": subset.name, "sentences": count, "share": percentage(count, sentences), "system": cell.system,
        "runs": runs, "scores": None, "interval": None, "difference": None, "reason": None,
    }  # fmt: skip
    if runs is None or cell.split is None or not count:
        return values | {"reason": cell.reason or ("no sentences" if not count else "it is not run")}
    names = (cell.split, measure, subset.rows_B)
    values["scores"] = measurements.scores(runs, *names)
    values["interval"] = measurements.interval(runs, *names) if count > 1 else None
    if cell.baseline_runs not in (None, runs):
        values["difference"] = asdict(measurements.compare(runs, cell.baseline_runs, *names))
    return values


def compare_on_subset(
    measurements: Measurements, names: tuple[str, str, str], measure: str, *subsets: Subset
) -> Compared:
    """Compare a system with a baseline, `names` (both and the split), on a subset; few sentences decide nothing.

    Of two subsets, the gain on the first is compared with that on the second.
    """
    smallest = min(subsets, key=lambda subset: len(subset.rows_B))
    count = len(smallest.rows_B)
    few = f"the subset ({smallest.name}) has {count:,} of the test's sentences, and fewer than {FEW} are too few"
    if count < 2:
        return few
    compare = measurements.compare if len(subsets) == 1 else measurements.compare_gains
    difference = compare(*names, measure, *(subset.rows_B for subset in subsets))
    return Undecided(difference, few) if count < FEW else difference


def few_mark(sentences: int | None) -> str:
    """Return the mark of a subset that is empty, or too small to conclude anything from."""
    if sentences is None or sentences >= FEW:
        return ""
    return " (few)" if sentences else " (none)"


def score_columns(label: str) -> list[Column]:
    """Make columns for a score, its interval, the difference from the baseline and its interval."""
    return [
        Column(name=label, content="mean", digits=1),
        Column(name=f"95 % interval of {label}", content="interval", digits=1),
        *difference_columns(),
    ]


def score_cells(values: Mapping[str, Any]) -> list[TableCell]:
    """Make the cells of `score_columns` from `subset_scores`."""
    scores = values["scores"]
    if scores is None:
        return [TableCell(None, reason=values["reason"]), *[TableCell(None)] * 3]
    interval = values["interval"] and Interval(*values["interval"])
    return [mean_cell(scores), TableCell(interval), *difference_cells(values)]


def mean_cell(scores: Sequence[float] | None) -> TableCell:
    """Make the cell of a mean over seeds; None: it is empty."""
    if scores is None:
        return TableCell(None)
    return TableCell(SeedMean(fmean(scores), stdev(scores) if len(scores) > 1 else None))


def difference_cells(values: Mapping[str, Any], *, reason: str = "") -> list[TableCell]:
    """Make the cells of a difference and its interval from `subset_scores`; `reason` says why there is none."""
    compared = values["difference"]
    if compared is None:
        return [TableCell(None, reason=reason), TableCell(None)]
    interval = Interval(*compared["interval"]) if values["sentences"] > 1 else None
    return [TableCell(compared["delta"]), TableCell(interval)]
