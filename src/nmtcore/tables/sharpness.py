"""Counts of attention weights by layer, or by head of a layer, with a table (pham2018, 6.1 and 6.2)."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nmtcore.evaluation.sharpness import BINS, count_sharpness
from nmtcore.tables.blocks import Block, item_blocks, make_table, note, number_columns, text_columns, with_origin
from nmtcore.tables.cells import PlannedTable
from nmtcore.tables.charts import BLACK, chart_of_sentence, chart_panels, laid_out, set_title, styled
from nmtcore.tables.query import Frame, Results, Row, measured_cells, rows_by
from nmtcore.tables.sheets import missing_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMED, UNCLAIMED = BLACK, "#999999"
"""Colours of heads, or of layers with heads, that a component of the system computes or trains, and of the others."""

COLUMNS = 4
"""Histograms beside one another."""

LOWEST_BIN = 1
"""The first bin that is drawn: that from 0 has nearly all weights, and would hide the others."""

_NOTES = """
Attention in the encoder on the first sentences of a test, all seeds together. Mean maximum: the mean over the tokens
that attend of their largest weight. Mean entropy: of the weights of a token, in bits; 0 if it attends to one token.
Claimed: a component of the system computes or trains the head, or a head of the layer.
"""


def sharpness_rows(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Count the weights of the encoder's layers and heads of all systems, each over its seeds."""
    for cell in measured_cells(table):
        dataset, _, system = cell.runs.partition("/")
        paths = list(map(Path, cell.source["files"]["attention"].values()))
        counted, claimed = count_sharpness(paths), cell.source["claimed"]
        names = {"dataset": dataset, "system": system, "runs": cell.runs, "test": cell.source["split"]}
        names |= {"seeds": len(paths), "sentences": counted["sentences"]}
        layers = {int(name.split(".")[0]) for name in claimed}
        for name, sharpness in counted["layers"].items():
            yield {**names, **sharpness, "layer": int(name), "head": None, "claimed": int(name) in layers}
        for name, sharpness in counted["heads"].items():
            layer, head = map(int, name.split("."))
            yield {**names, **sharpness, "layer": layer, "head": head, "claimed": name in claimed}


def _by_system(frame: Frame) -> Iterator[tuple[list[Row], int | None]]:
    """Yield the rows of each system on a test, and the layer whose heads are shown one by one; None: all layers are.

    The fact `layer` chooses it; of a model with fewer layers it is the last.
    """
    layer = frame.table.facts.get("layer")
    for rows in rows_by(frame.rows, "runs", "test").values():
        yield rows, None if layer is None else min(int(layer), max(row["layer"] for row in rows))


@styled
def sharpness_figure(frame: Frame) -> "Figure":
    """Draw, for each system, a histogram of the weights of each layer or head, four beside one another."""
    drawn = []
    for rows, layer in _by_system(frame):
        title = f"{rows[0]['system']}{'' if layer is None else f', layer {layer}'}: % of the attention weights"
        drawn.append(
            (title, [row for row in rows if (row["head"] is None) == (layer is None) and layer in (None, row["layer"])])
        )
    if not drawn:
        return chart_of_sentence(" ".join(missing_runs(frame.table)))
    counts = [math.ceil(len(rows) / COLUMNS) for _, rows in drawn]
    figure, parts = chart_panels([0.25 + 0.85 * count for count in counts], {})
    highest = max(max(_shares(row)) for _, rows in drawn for row in rows)
    for part, count, (title, rows) in zip(parts, counts, drawn, strict=True):
        grid = part.subplots(count, COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
        for ax, row in zip(grid, rows, strict=False):
            edges = [place / BINS for place in range(LOWEST_BIN, BINS + 1)]
            ax.stairs(_shares(row), edges, fill=True, color=CLAIMED if row["claimed"] else UNCLAIMED)
            ax.set(xlim=(edges[0], 1), ylim=(0, 1.05 * highest), xticks=[0.5, 1.0])
            ax.set_title(f"layer {row['layer']}" if row["head"] is None else f"head {row['head']}", loc="left")
        for ax in grid[len(rows) :]:
            ax.set_visible(False)
        set_title(part, title)
    return laid_out(figure)


def _shares(row: Row) -> list[float]:
    """Return the percentage of weights in each bin that is drawn."""
    return [100 * count / sum(row["counts"]) for count in row["counts"][LOWEST_BIN:]]


def sharpness_blocks(frame: Frame) -> list[Block]:
    """Tabulate layers and, of the layer that is shown by head, heads."""
    shown = []
    for rows, layer in _by_system(frame):
        tabulated = [row for row in rows if row["head"] is None or row["layer"] == layer]
        for row in sorted(tabulated, key=lambda row: row["layer"]):
            numbers = with_origin([row["seeds"], row["sentences"]], row["runs"])
            means = with_origin([row["mean_maximum"], row["mean_entropy"]], row["runs"])
            names = [row["system"], row["dataset"], row["test"]]
            shown.append([*names, *numbers, row["layer"], row["head"], *means, "yes" if row["claimed"] else ""])
    columns = [
        *text_columns("system", "data set", "test"),
        *number_columns("seeds", "sentences", "layer", "head"),
        *number_columns("mean maximum", "mean entropy", digits=3),
        *text_columns("claimed"),
    ]
    blocks = [make_table(columns, shown), note(_NOTES)] if shown else []
    return [*blocks, *item_blocks(missing_runs(frame.table))]
