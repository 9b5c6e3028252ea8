"""Counts of attention weights by layer, or by head of a layer, with a table (pham2018, 6.1 and 6.2)."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmtcore.evaluation.sharpness import BINS, count_sharpness
from nmtcore.layout import Layout
from nmtcore.reporting import charts
from nmtcore.reporting.seed_items import measured_cells, missing_runs
from nmtcore.reporting.sentence_figures import run_names
from nmtcore.tables.blocks import Block, item_blocks, make_table, note, number_columns, text_columns, with_origin
from nmtcore.tables.cells import PlannedTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOWEST_BIN = 1
"""The first bin that is drawn: that from 0 has nearly all weights, and would hide the others."""

_NOTES = """
Attention in the encoder on the first sentences of a test, all seeds together. Mean maximum: the mean over the tokens
that attend of their largest weight. Mean entropy: of the weights of a token, in bits; 0 if it attends to one token.
Claimed: a component of the system computes or trains the head, or a head of the layer.
"""


def sharpness_data(table: PlannedTable, layout: Layout) -> dict[str, Any]:
    """Count the weights of the encoder heads of all systems, each over its seeds.

    The fact `layer` chooses the layer whose heads are shown one by one; of a model with fewer layers it is the last.
    Bins below the fact `bins_from` are not drawn.
    """
    layer = None if "layer" not in table.facts else int(table.facts["layer"])
    systems = []
    for cell in measured_cells(table):
        paths = list(map(Path, cell.source["files"]["attention"].values()))
        counts = count_sharpness(paths)
        last = max(map(int, counts["layers"]))
        shown = {"layer": None if layer is None else min(layer, last), "last_layer": last}
        names = {**run_names(paths[0], "attention", layout), "seeds": len(paths), "claimed": cell.source["claimed"]}
        systems.append({**names, **counts, **shown})
    return {
        "systems": systems,
        "lowest_bin": round(table.facts["bins_from"] * BINS) if "bins_from" in table.facts else LOWEST_BIN,
        "remarks": list(_remarks(systems, layer, table.facts.get("first_sentences"))),
        "missing": missing_runs(table),
    }


def _remarks(systems: Sequence[Mapping[str, Any]], layer: int | None, sentences: float | None) -> Iterator[str]:
    """Say where a model has no such layer, and where a test has fewer sentences than the paper reads."""
    for entry in systems:
        if layer is not None and entry["layer"] != layer:
            last, shown = entry["last_layer"], entry["layer"]
            yield f"{entry['system']} has layers 0 to {last}: layer {shown} stands for layer {layer}."
    tests = {f"{entry['dataset']}, {entry['split']}": entry["sentences"] for entry in systems}
    for test, count in sorted(tests.items()):
        if sentences is not None and count != sentences:
            yield f"{test}: {count} sentences instead of the paper's {sentences:.0f}."


def counts_of(entry: Mapping[str, Any], layer: int | None) -> Iterator[tuple[int, int | None, Mapping[str, Any], bool]]:
    """Yield the layers of a system (head None) or the heads of a layer, with their counts and whether it is claimed."""
    if layer is None:
        claimed = {int(name.split(".")[0]) for name in entry["claimed"]}
        yield from ((int(name), None, own, int(name) in claimed) for name, own in entry["layers"].items())
        return
    for name, own in entry["heads"].items():
        number, head = map(int, name.split("."))
        if number == layer:
            yield number, head, own, name in entry["claimed"]


def draw_sharpness(data: Mapping[str, Any]) -> "Figure":
    """Draw the result of `sharpness_data`: for each system, a histogram per layer or per head."""
    import pandas as pd

    lowest, rows = data["lowest_bin"], []
    for entry in data["systems"]:
        layer = "" if entry["layer"] is None else f", layer {entry['layer']}"
        title = f"{entry['system']}{layer}: % of the attention weights"
        for number, head, own, claimed in counts_of(entry, entry["layer"]):
            name = f"layer {number}" if head is None else f"head {head}"
            bins = enumerate(own["counts"][lowest:], start=lowest)
            total = sum(own["counts"])
            rows += [(title, name, claimed, place / BINS, 100 * count / total) for place, count in bins]
    rows = pd.DataFrame(rows, columns=["title", "name", "claimed", "low", "share"])
    return charts.sharpness_chart(rows, " ".join([*data["remarks"], *data["missing"]]))


def sharpness_blocks(data: Mapping[str, Any]) -> list[Block]:
    """Tabulate layers and, of the layer that is shown by head, heads."""
    rows = []
    for entry in data["systems"]:
        origin = f"{entry['dataset']}/{entry['system']}"
        names = [entry["system"], entry["dataset"], entry["split"]]
        names += with_origin([entry["seeds"], entry["sentences"]], origin)
        heads = [] if entry["layer"] is None else list(counts_of(entry, entry["layer"]))
        for layer, head, own, claimed in sorted([*counts_of(entry, None), *heads], key=lambda counted: counted[0]):
            means = with_origin([own["mean_maximum"], own["mean_entropy"]], origin)
            rows.append([*names, layer, head, *means, "yes" if claimed else ""])
    columns = [
        *text_columns("system", "data set", "test"),
        *number_columns("seeds", "sentences", "layer", "head"),
        *number_columns("mean maximum", "mean entropy", digits=3),
        *text_columns("claimed"),
    ]
    blocks = [make_table(columns, rows), note(_NOTES)] if rows else []
    return [*blocks, *item_blocks(data["remarks"]), *item_blocks(data["missing"])]
