"""Histograms of attention weights by layer, or by head of a layer (pham2018, 6.1 and 6.2)."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nmtcore.evaluation.sharpness import BINS, count_sharpness
from nmtcore.tables.blocks import Block, item_blocks, note
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
Attention in the encoder on the first sentences of a test, all seeds together. Black: a component of the system computes
or trains the head, or a head of the layer. A table of scores has numbers, by the metrics sharpness, least_sharp_head.
"""


def sharpness_rows(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Count the weights of the layers of each system's encoder or, with the fact `layer`, of the heads of that layer.

    The seeds of a system are counted together. Of a model with fewer layers, the layer is the last.
    """
    layer = table.facts.get("layer")
    for cell in measured_cells(table):
        dataset, _, system = cell.runs.partition("/")
        paths = list(map(Path, cell.source["files"]["attention"].values()))
        counted, claimed = count_sharpness(paths), cell.source["claimed"]
        names = {"dataset": dataset, "system": system, "runs": cell.runs, "test": cell.source["split"]}
        last = max(int(name.partition(".")[0]) for name in counted)
        heads_of = "" if layer is None else f"{min(int(layer), last)}."
        for name, sharpness in counted.items():
            if name.startswith(heads_of) if heads_of else "." not in name:
                is_claimed = any(head == name or head.startswith(f"{name}.") for head in claimed)
                names["place"] = f"{'head' if '.' in name else 'layer'} {name}"
                yield {**names, "seeds": len(paths), **sharpness, "claimed": is_claimed}


@styled
def sharpness_figure(frame: Frame) -> "Figure":
    """Draw, for each system, a histogram of the weights of each layer or head, four beside one another."""
    drawn = list(rows_by(frame.rows, "runs", "test").values())
    if not drawn:
        return chart_of_sentence(" ".join(missing_runs(frame.table)))
    counts = [math.ceil(len(rows) / COLUMNS) for rows in drawn]
    figure, parts = chart_panels([0.25 + 0.85 * count for count in counts], {})
    highest = max(max(row["shares"][LOWEST_BIN:]) for rows in drawn for row in rows)
    for part, count, rows in zip(parts, counts, drawn, strict=True):
        grid = part.subplots(count, COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
        for ax, row in zip(grid, rows, strict=False):
            edges = [place / BINS for place in range(LOWEST_BIN, BINS + 1)]
            ax.stairs(row["shares"][LOWEST_BIN:], edges, fill=True, color=CLAIMED if row["claimed"] else UNCLAIMED)
            ax.set(xlim=(edges[0], 1), ylim=(0, 1.05 * highest), xticks=[0.5, 1.0])
            ax.set_title(row["place"], loc="left")
        for ax in grid[len(rows) :]:
            ax.set_visible(False)
        set_title(part, f"{rows[0]['system']}: % of the attention weights")
    return laid_out(figure)


def sharpness_blocks(frame: Frame) -> list[Block]:
    """Say what the figure shows, and which runs it lacks; the frame has the numbers."""
    return [note(_NOTES), *item_blocks(missing_runs(frame.table))]
