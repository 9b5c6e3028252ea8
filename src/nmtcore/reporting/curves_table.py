"""Figures of validation curves, with a table of each system's best and last validation score."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.layout import Layout
from nmtcore.reporting.curves_figure import curve_entries, drawn_metrics
from nmtcore.reporting.seed_items import measured_cells, run_items
from nmtcore.reporting.table import (
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

LABELS = {"bleu": "BLEU", "perplexity": "perplexity"}
"""The validation scores, and their names."""

_NOTES = """
Means over seeds, ± their standard deviation if there are several. Best: the run's best validation score and the first
update that has it. Last: the score of the last validation. The paper publishes curves, but no numbers.
"""


def curves_data(table: PlannedTable, layout: Layout) -> dict[str, Any]:
    """Read the validation scores of a table's runs."""
    beams: dict[str, set[int]] = {}
    paths = []
    for cell in measured_cells(table):
        beams.setdefault(cell.ours, set()).add(cell.source["beam"])
        paths += map(Path, cell.source["files"]["history"].values())
    return {"entries": curve_entries(paths, layout), "beams": {name: sorted(own) for name, own in beams.items()}}


def curves_blocks(table: PlannedTable, data: Mapping[str, Any]) -> list[Block]:
    """Show the best and the last validation score of each system."""
    metrics = [metric for metric in LABELS if metric in drawn_metrics(data["entries"])] or ["bleu"]
    tables = [_scores_table(table, data["entries"], metric) for metric in metrics]
    return [*tables, note(_NOTES), *item_blocks(run_items(table))]


def _scores_table(table: PlannedTable, entries: Sequence[Mapping[str, Any]], metric: str) -> Table:
    label = LABELS[metric]
    columns = [
        *text_columns("system", "data set"),
        *number_columns("seeds"),
        *number_columns(f"best dev {label}", content="mean", digits=2),
        *number_columns("at update", content="mean"),
        *number_columns(f"last dev {label}", content="mean", digits=2),
        Column(name="of update", content="mean"),
    ]
    by_runs = {f"{entry['dataset']}/{entry['system']}": entry for entry in entries}
    return make_table(columns, [_row(cell, by_runs.get(cell.runs), metric) for cell in table.cells])


def _row(cell: Cell, entry: Mapping[str, Any] | None, metric: str) -> list[Any]:
    names = [cell.row, cell.ours]
    curves = {} if entry is None else entry["curves"].get(metric, {})
    points = [curve for curve in curves.values() if curve]
    if not points:
        reason = cell.reason or f"its validations compute no {LABELS[metric]}"
        return [*names, None, *[TableCell(None, reason=reason)] * 4]
    best = [best_point(curve, metric) for curve in points]
    last = [curve[-1] for curve in points]
    columns = [[point[1] for point in best], [point[0] for point in best]]
    columns += [[point[1] for point in last], [point[0] for point in last]]
    return [*names, *with_origin([len(points), *map(SeedMean.over, columns)], cell.runs)]


def best_point(curve: Sequence[tuple[int, float]], metric: str) -> tuple[int, float]:
    """Return the first point of a curve, (update, score), with its best score; low perplexities are good."""
    sign = -1 if metric == "perplexity" else 1
    return max(curve, key=lambda point: sign * point[1])
