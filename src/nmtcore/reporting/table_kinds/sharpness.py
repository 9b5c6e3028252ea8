"""Figures of the sharpness of attention: histograms of weights, and their mean maximum and entropy."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from nmtcore.config.planned_tables import PlannedCell, PlannedTable
from nmtcore.evaluation.sharpness import BINS
from nmtcore.files import write_text
from nmtcore.layout import Layout
from nmtcore.reporting.charts import TITLE_CHARACTERS, write_svg
from nmtcore.reporting.missing_runs import missing_items, missing_runs
from nmtcore.reporting.sharpness_figure import LOWEST_BIN, sharpness_bars, sharpness_chart, sharpness_entries
from nmtcore.reporting.svg import titled_svg
from nmtcore.reporting.table import Block, Items, make_table, note, number_columns, text_columns, with_origin
from nmtcore.reporting.table_content import TableContent

_NOTES = """
Attention in the encoder on the first sentences of a test, all seeds together. Mean maximum: the mean over the tokens
that attend of their largest weight. Mean entropy: of the weights of a token, in bits; 0 if it attends to one token.
Claimed: a component of the system computes or trains the head, or a head of the layer.
"""


def sharpness_content(table: PlannedTable, layout: Layout) -> TableContent:
    """Count the weights of the encoder heads of all systems.

    The fact `layer` chooses the layer whose heads are shown one by one; of a model with fewer layers it is the last.
    Bins below the fact `bins_from` are not drawn.
    """
    tests = table.more["sharpness"]

    def lacks(cell: PlannedCell) -> str:
        known = any(test["runs"] == cell.runs and cell.split in (None, test["split"]) for test in tests)
        return "" if known else "its encoder has no attention heads"

    layer = None if "layer" not in table.facts else int(table.facts["layer"])
    systems = []
    for test in tests:
        (entry,) = sharpness_entries([Path(path) for path in test["files"]], layout)
        last = max(map(int, entry["layers"]))
        shown = None if layer is None else min(layer, last)
        systems.append({**entry, "claimed": test["claimed"], "layer": shown, "last_layer": last})
    missing = missing_runs(table, lacks)
    remarks = _remarks(systems, layer, table.facts.get("first_sentences"))
    blocks: list[Block] = [_overview(systems), note(_NOTES)] if systems else []
    blocks += [*([Items(tuple(remarks))] if remarks else []), *missing_items(missing)]
    lowest_bin = round(table.facts["bins_from"] * BINS) if "bins_from" in table.facts else LOWEST_BIN
    data = {"systems": systems, "lowest_bin": lowest_bin, "remarks": remarks, "missing": missing}
    return TableContent(blocks=blocks, data=data)


def draw_sharpness(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw the data of `sharpness_content`."""
    bars = [
        bar
        for entry in data["systems"]
        for bar in sharpness_bars(
            [entry], layer=entry["layer"], claimed={entry["system"]: entry["claimed"]}, lowest_bin=data["lowest_bin"]
        )
    ]
    sentences = [*data["remarks"], *data["missing"]]
    if not bars:
        write_text(figure, titled_svg(title, [], sentences))
        return
    by_head = data["systems"][0]["layer"] is not None
    lines = [line for text in (title, *sentences) for line in wrap(text, TITLE_CHARACTERS)]
    write_svg(sharpness_chart(bars, by_head=by_head, title=lines), figure)


def _overview(systems: Sequence[Mapping[str, Any]]) -> Block:
    """Tabulate layers and, of the layer that is shown by head, heads."""
    rows = []
    for entry in systems:
        origin = f"{entry['dataset']}/{entry['system']}"
        names = [entry["system"], entry["dataset"], entry["split"]]
        names += with_origin([len(entry["seeds"]), entry["sentences"]], origin)
        for number, counts in entry["layers"].items():
            claimed = any(name.split(".")[0] == number for name in entry["claimed"])
            means = with_origin([counts["mean_maximum"], counts["mean_entropy"]], origin)
            rows.append([*names, int(number), None, *means, _yes(claimed)])
            for name, own in entry["heads"].items():
                if str(entry["layer"]) == number == name.split(".")[0]:
                    head = int(name.split(".")[1])
                    means = with_origin([own["mean_maximum"], own["mean_entropy"]], origin)
                    rows.append([*names, int(number), head, *means, _yes(name in entry["claimed"])])
    columns = [
        *text_columns("system", "data set", "test"),
        *number_columns("seeds", "sentences", "layer", "head"),
        *number_columns("mean maximum", "mean entropy", digits=3),
        *text_columns("claimed"),
    ]
    return make_table(columns, rows)


def _yes(claimed: bool) -> str:
    return "yes" if claimed else ""


def _remarks(systems: Sequence[Mapping[str, Any]], layer: int | None, sentences: float | None) -> list[str]:
    """Say where a model has no such layer, and where a test has fewer sentences than the paper reads."""
    remarks = [
        f"{entry['system']} has layers 0 to {entry['last_layer']}: layer {entry['layer']} stands for layer {layer}."
        for entry in systems
        if layer is not None and entry["layer"] != layer
    ]
    others = {
        f"{entry['dataset']}, {entry['split']}: {entry['sentences']} sentences instead of the paper's {sentences:.0f}."
        for entry in systems
        if sentences is not None and entry["sentences"] != sentences
    }
    return [*remarks, *sorted(others)]
