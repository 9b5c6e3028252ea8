"""Counts of attention weights by layer, or by head of a layer, with a table (pham2018, 6.1 and 6.2)."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nmtcore.evaluation.sharpness import BINS, count_sharpness
from nmtcore.tables import charts
from nmtcore.tables.blocks import Block, item_blocks, make_table, note, number_columns, text_columns, with_origin
from nmtcore.tables.cells import PlannedTable
from nmtcore.tables.query import Frame, Results, Row, measured_cells, rows_by
from nmtcore.tables.sheets import missing_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def _remarks(frame: Frame) -> Iterator[str]:
    """Say where a model has no such layer, and where a test has fewer sentences than the paper reads."""
    facts, tests = frame.table.facts, {}
    for rows, shown in _by_system(frame):
        if shown is not None and shown != int(facts["layer"]):
            layer = f"layer {shown} stands for layer {facts['layer']:.0f}"
            yield f"{rows[0]['system']} has layers 0 to {max(row['layer'] for row in rows)}: {layer}."
        tests[f"{rows[0]['dataset']}, {rows[0]['test']}"] = rows[0]["sentences"]
    for test, count in sorted(tests.items()):
        if count != facts.get("first_sentences", count):
            yield f"{test}: {count} sentences instead of the paper's {facts['first_sentences']:.0f}."


def sharpness_figure(frame: Frame) -> "Figure":
    """Draw, for each system, a histogram per layer or per head; bins below the fact `bins_from` are not drawn."""
    import pandas as pd

    facts, bins = frame.table.facts, []
    lowest = round(facts["bins_from"] * BINS) if "bins_from" in facts else LOWEST_BIN
    for rows, layer in _by_system(frame):
        title = f"{rows[0]['system']}{'' if layer is None else f', layer {layer}'}: % of the attention weights"
        for row in rows:
            if row["head"] is None if layer is None else row["head"] is not None and row["layer"] == layer:
                name = f"layer {row['layer']}" if layer is None else f"head {row['head']}"
                total = sum(row["counts"])
                shares = ((place / BINS, 100 * count / total) for place, count in enumerate(row["counts"]))
                bins += [(title, name, row["claimed"], *bin_share) for bin_share in list(shares)[lowest:]]
    drawn = pd.DataFrame(bins, columns=["title", "name", "claimed", "low", "share"])
    return charts.sharpness_chart(drawn, " ".join([*_remarks(frame), *missing_runs(frame.table)]))


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
    return [*blocks, *item_blocks(_remarks(frame)), *item_blocks(missing_runs(frame.table))]
