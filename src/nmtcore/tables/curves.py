"""Curves of training and validation in the logs of runs, with a table of each system's best and last score."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from nmtcore.errors import LineError, UserError
from nmtcore.tables.blocks import (
    Block,
    Column,
    SeedMean,
    Table,
    TableCell,
    item_blocks,
    make_table,
    note,
    number_columns,
    text_columns,
    with_origin,
)
from nmtcore.tables.cells import Cell, PlannedTable
from nmtcore.tables.charts import (
    chart_of_sentence,
    chart_panels,
    laid_out,
    legend_samples,
    set_title,
    styled,
    system_looks,
)
from nmtcore.tables.query import Frame, Results, Row, measured_cells
from nmtcore.tables.sheets import run_items
from nmtcore.training.log import TRANSLATION_LOSS, read_history

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LABELS = {"bleu": "BLEU", "perplexity": "perplexity"}
"""The validation scores, and their names."""

_NOTES = """
Means over seeds, ± their standard deviation if there are several. Best: the run's best validation score and the first
update that has it. Last: the score of the last validation. The paper publishes curves, but no numbers.
"""

AXES = {
    "loss": "training loss per target token",
    "bleu": "dev BLEU in validation",
    "perplexity": "dev perplexity",
    "accuracy": "tag accuracy on dev, %",
}
"""What panels of curves show, by metric."""

MARKED = 20
"""Points of a line up to which each is marked; of longer ones, about as many are."""

POINTS = 40
"""Points of a loss curve; each is the mean of several lines of the log if there are more."""


def read_curves(histories: Mapping[tuple[str, str, int], Path]) -> "pd.DataFrame":
    """Read the values of each metric from the logs of runs, given by data set, system and seed."""
    import pandas as pd

    rows = [(*run, *point) for run, path in histories.items() for point in _points(path)]
    return pd.DataFrame(rows, columns=["dataset", "system", "seed", "metric", "update", "value"])


def _points(history: Path) -> Iterator[tuple[str, int, float]]:
    """Yield metrics, updates and values of a log; values that were not finite are left out."""
    for number, record in enumerate(read_history(history), start=1):
        update, scores = record.get("update"), record.get("validation", {})
        if not isinstance(update, int) or not isinstance(scores, dict):
            raise LineError(history, number, "this is no line of a training log: delete the file and train again.")
        accuracies = [
            accuracy for name, accuracy in scores.items() if name.startswith("accuracy/") and accuracy is not None
        ]
        values = {
            "loss": None if scores else record.get(TRANSLATION_LOSS),
            **{metric: scores.get(metric) for metric in LABELS},
            "accuracy": 100 * fmean(accuracies) if accuracies else None,
        }
        yield from ((metric, update, value) for metric, value in values.items() if isinstance(value, int | float))


def system_curves(dataset: str, system: str, histories: Mapping[int, Path], *, points: int = POINTS) -> "pd.DataFrame":
    """Read what the report draws of a system from the log of each seed, of the loss at most `points`."""
    import pandas as pd

    rows = read_curves({(dataset, system, seed): path for seed, path in histories.items()})
    losses, others = rows[rows.metric == "loss"], rows[rows.metric != "loss"]
    # Means of as many lines, at the update of the last one, so that seeds keep the same updates.
    size = math.ceil(losses.groupby("seed").size().max() / points) if len(losses) else 1
    pieces = losses.groupby(["dataset", "system", "seed", "metric", losses.groupby("seed").cumcount() // size])
    return drawn_rows(pd.concat([pieces.agg({"update": "last", "value": "mean"}).reset_index(), others]))


def drawn_metrics(rows: "pd.DataFrame") -> list[str]:
    """List the scores to draw of systems with validations: BLEU and, if a system has none, the perplexity of all."""
    scored = rows[rows.metric.isin(LABELS)].groupby(["dataset", "system"]).metric
    with_bleu = ["bleu" in set(metrics) for _, metrics in scored]
    return [*["bleu"] * any(with_bleu), *["perplexity"] * (not all(with_bleu))]


def drawn_rows(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Leave out the scores that are not drawn of a data set."""
    drawn = {dataset: drawn_metrics(of_dataset) for dataset, of_dataset in rows.groupby("dataset")}
    shown = [row.metric not in LABELS or row.metric in drawn[row.dataset] for row in rows.itertuples()]
    return rows[np.array(shown, dtype=bool)]


def curve_rows(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Yield the validation scores of a table's runs, a row for each.

    Raises `UserError` if a log has no validation with a perplexity.
    """
    for cell in measured_cells(table):
        dataset, _, system = cell.runs.partition("/")
        run = {"dataset": dataset, "system": system, "runs": cell.runs}
        for seed, path in cell.source["files"]["history"].items():
            points = [point for point in _points(Path(path)) if point[0] in LABELS]
            if not any(metric == "perplexity" for metric, _, _ in points):
                raise UserError(
                    f"{path} records no validation, so there is no curve to draw: delete it and train again."
                )
            yield from (
                {**run, "seed": int(seed), "metric": metric, "update": update, "value": value}
                for metric, update, value in points
            )


def curve_figure(frame: Frame) -> "Figure":
    """Draw the validation scores of a table's runs."""
    return curve_chart(drawn_rows(_validations(frame)))


@styled
def curve_chart(rows: "pd.DataFrame", *, columns: int = 1) -> "Figure":
    """Draw values over updates: a thin line per seed, and a thick one for the mean of the updates that all have.

    `rows` have `dataset`, `system`, `seed`, `metric` (of `AXES`), `update` and `value`. There is a panel per data set
    and metric, `columns` of them beside one another.
    """
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    if rows.empty:
        return chart_of_sentence("No run of these systems is finished.")
    looks = system_looks(rows.system)
    drawn = list(rows.groupby(["dataset", "metric"], sort=False))
    several = rows.dataset.nunique() > 1
    figure, parts = chart_panels([1.9] * len(drawn), legend_samples(looks) if len(looks) > 1 else {}, columns=columns)
    for part, ((dataset, metric), of_panel) in zip(parts, drawn, strict=True):
        ax = part.subplots()
        for system, of_system in of_panel.groupby("system", sort=False):
            # Training that was continued may have an update twice.
            seeds = of_system.pivot_table("value", index="update", columns="seed", aggfunc="last")
            mean = seeds.mean(axis=1, skipna=False).dropna()
            for _, seed in seeds.items() if len(seeds.columns) > 1 else ():
                points = seed.dropna()
                ax.plot(
                    points.index, points, "o-" if len(points) == 1 else "-", color=looks[system].color, linewidth=0.5
                )
            ax.plot(mean.index, mean, **looks[system]._asdict(), markersize=3, markevery=len(mean) // MARKED + 1)
        ax.xaxis.set_major_locator(MaxNLocator(3, integer=True, min_n_ticks=1))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        ax.set_xlabel("updates", loc="right")
        set_title(part, AXES[metric] + (f", {dataset}" if several else ""))
    return laid_out(figure)


def _validations(frame: Frame) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(frame.rows, columns=["dataset", "system", "runs", "seed", "metric", "update", "value"])


def curve_blocks(frame: Frame) -> list[Block]:
    """Show the best and the last validation score of each system."""
    rows = _validations(frame)
    tables = [_scores_table(frame.table, rows, metric) for metric in drawn_metrics(rows) or ["bleu"]]
    return [*tables, note(_NOTES), *item_blocks(run_items(frame.table))]


def _scores_table(table: PlannedTable, rows: "pd.DataFrame", metric: str) -> Table:
    label = LABELS[metric]
    columns = [
        *text_columns("system", "data set"),
        *number_columns("seeds"),
        *number_columns(f"best dev {label}", content="mean", digits=2),
        *number_columns("at update", content="mean"),
        *number_columns(f"last dev {label}", content="mean", digits=2),
        Column(name="of update", content="mean"),
    ]
    scores = rows[rows.metric == metric]
    by_runs = dict(list(scores.groupby("runs")))
    return make_table(columns, [_row(cell, by_runs.get(cell.runs), metric) for cell in table.cells])


def _row(cell: Cell, scores: "pd.DataFrame | None", metric: str) -> list[Any]:
    names = [cell.row, cell.ours]
    if scores is None:
        reason = cell.reason or f"its validations compute no {LABELS[metric]}"
        return [*names, None, *[TableCell(None, reason=reason)] * 4]
    seeds = [seed for _, seed in scores.groupby("seed")]
    # Of equal scores, the first is the best one.
    best = [seed.loc[seed.value.idxmin() if metric == "perplexity" else seed.value.idxmax()] for seed in seeds]
    last = [seed.iloc[-1] for seed in seeds]
    columns = [[row[key].item() for row in rows] for rows in (best, last) for key in ("value", "update")]
    return [*names, *with_origin([len(seeds), *map(SeedMean.over, columns)], cell.runs)]
