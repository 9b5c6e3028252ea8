"""Histograms of attention weights by layer, or by head of a layer, with a table (pham2018, 6.1 and 6.2)."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.evaluation.sharpness import BINS, count_sharpness
from nmtcore.layout import Layout
from nmtcore.reporting.charts import Scale, axes, ticks
from nmtcore.reporting.seed_items import measured_cells, missing_runs
from nmtcore.reporting.sentence_figures import run_names
from nmtcore.reporting.svg import FIGURE_WIDTH, Drawing, arranged, sentences_drawing, svg_text, write_drawings
from nmtcore.reporting.table import Block, item_blocks, make_table, note, number_columns, text_columns, with_origin
from nmtcore.tables.cells import PlannedTable

LOWEST_BIN = 1
"""The first bin that is drawn: that from 0 has nearly all weights, and would hide the others."""

CLAIMED, UNCLAIMED = "currentColor", "#999999"
"""Colours of heads, or of layers with heads, that a component of the system computes or trains, and of the others."""

COLUMNS = 4
"""Histograms beside one another."""

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


def draw_sharpness(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw the result of `sharpness_data`: for each system, a histogram per layer or per head."""
    drawings, lowest = [], data["lowest_bin"]
    shown = [list(counts_of(entry, entry["layer"])) for entry in data["systems"]]
    largest = max((max(shares(own, lowest)) for panels in shown for _, _, own, _ in panels), default=0.0)
    for entry, panels in zip(data["systems"], shown, strict=True):
        layer = "" if entry["layer"] is None else f", layer {entry['layer']}"
        drawings.append(sentences_drawing([f"{entry['system']}{layer}: % of the attention weights"]))
        histograms = []
        for number, head, own, claimed in panels:
            name = f"layer {number}" if head is None else f"head {head}"
            histograms.append(_histogram(name, shares(own, lowest), largest or 1.0, claimed))
        drawings.append(arranged(histograms, COLUMNS))
    write_drawings(figure, drawings, title=title, sentences=[] if drawings else [*data["remarks"], *data["missing"]])


def shares(counts: Mapping[str, Any], lowest_bin: int) -> list[float]:
    """Return the percentage of all weights in each bin from the lowest one that is drawn."""
    return [100 * count / sum(counts["counts"]) for count in counts["counts"][lowest_bin:]]


def _histogram(name: str, shares: Sequence[float], largest: float, claimed: bool) -> Drawing:
    """Draw the shares of the bins up to the one that ends at 1; those of claimed heads have the colour of text."""
    width = FIGURE_WIDTH / COLUMNS
    x, y = Scale(1 - len(shares) / BINS, 1.0, 30, width - 6), Scale(0, largest, 52, 18)
    bars = "".join(
        f'<rect x="{x(1 - (len(shares) - number) / BINS):.1f}" y="{y(share):.1f}" width="{x(1 / BINS) - x(0):.1f}" '
        f'height="{y(0) - y(share):.1f}"/>'
        for number, share in enumerate(shares)
    )
    drawn = axes(
        {x(own): f"{own:g}" for own in (0.2, 0.6, 1.0) if own >= x.low},
        {y(own): f"{own:.4g}" for own in ticks(0, largest, most=3)},
        left=30, right=width - 6, top=18, bottom=52,
    )  # fmt: skip
    group = f'<g fill="{CLAIMED if claimed else UNCLAIMED}">{bars}</g>'
    return Drawing([svg_text(30, 11, name), group, *drawn], width, 76)


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
