"""Figures of attention on one sentence: the encoder heads of transformers, or the maps of recurrent systems."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nmtcore.config.planned_tables import PlannedCell, PlannedTable
from nmtcore.files import write_text
from nmtcore.layout import Layout
from nmtcore.reporting.attention_figure import attention_drawing, attention_entry
from nmtcore.reporting.maps_figure import maps_drawing, maps_entry
from nmtcore.reporting.missing_runs import missing_items, missing_runs
from nmtcore.reporting.svg import titled_svg
from nmtcore.reporting.table import Block, Paragraph, make_table, note, number_columns, text_columns, with_origin
from nmtcore.reporting.table_content import TableContent

_NOTES = """
What the figure shows, and how sharp it is. Mean maximum: the mean over the tokens that attend of their largest weight;
1 if each attends to one token. The heads of words (head_selection...) are the distributions over the possible heads of
each word.
"""


def attention_content(table: PlannedTable, layout: Layout) -> TableContent:
    """Read the attention of the first seed of each system on a sentence."""
    tests = table.more["attention"]

    def lacks(cell: PlannedCell) -> str:
        known = any(test["runs"] == cell.runs and cell.split in (None, test["split"]) for test in tests)
        return "" if known else f"it has no model, or {cell.split} is no test"

    encoders = [
        attention_entry(
            Path(test["file"]), pairs=Path(test["pairs"]), trees=test["trees"] and Path(test["trees"]),
            layout=layout, claimed=test["claimed"],
        )
        for test in tests
        if test["encoder_heads"]
    ]  # fmt: skip
    recurrent: dict[str, list[Path]] = {}
    for test in tests:
        if not test["encoder_heads"]:
            recurrent.setdefault(test["pairs"], []).append(Path(test["file"]))
    maps = [maps_entry(files, pairs=Path(pairs), layout=layout) for pairs, files in recurrent.items()]
    missing = missing_runs(table, lacks)
    blocks = [*_sentences(encoders, maps), *_overview(encoders, maps), *missing_items(missing)]
    return TableContent(blocks=blocks, data={"encoders": encoders, "maps": maps, "missing": missing})


def draw_attention(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw the data of `attention_content`."""
    drawings = [*map(attention_drawing, data["encoders"]), *map(maps_drawing, data["maps"])]
    write_text(figure, titled_svg(title, drawings, data["missing"]))


def _sentences(encoders: list[dict[str, Any]], maps: list[dict[str, Any]]) -> Iterator[Block]:
    for entry in encoders:
        names = f"{entry['system']}, {entry['dataset']}, {entry['split']}"
        yield Paragraph(f"{names}: {entry['sentence']['chosen']}: ", corpus=" ".join(entry["sentence"]["words"]))
    for entry in maps:
        first = entry["runs"][0]
        names = f"{first['dataset']}, {first['split']}"
        yield Paragraph(f"{names}: {entry['sentence']['chosen']}: ", corpus=" ".join(entry["sentence"]["words"]))


def _overview(encoders: list[dict[str, Any]], maps: list[dict[str, Any]]) -> list[Block]:
    """Tabulate the matrices of the figure."""
    rows = [
        _row(entry, f"layer {name.replace('.', ', head ')}", weights)
        for entry in encoders
        for name, weights in entry["heads"].items()
    ]
    for entry in maps:
        for run in entry["runs"]:
            rows += [_row(run, own["title"], _queries(own)) for own in run["maps"]]
    columns = [
        *text_columns("system"), *number_columns("seed"), *text_columns("attention"),
        *number_columns("mean maximum", digits=3),
    ]  # fmt: skip
    return [make_table(columns, rows), note(_NOTES)] if rows else []


def _row(run: Mapping[str, Any], title: str, weights: list[list[float]]) -> list[Any]:
    origin = f"{run['dataset']}/{run['system']}"
    seed, sharpness = with_origin([run["seed"], _mean_maximum(weights)], origin)
    return [run["system"], seed, title, sharpness]


def _queries(own: Mapping[str, Any]) -> list[list[float]]:
    """Return the weights of a map with one row per token that attends: a dependent, in maps of heads."""
    weights = own["weights"]
    return weights if own["column"] == "source" else [list(column) for column in zip(*weights, strict=True)]


def _mean_maximum(weights: list[list[float]]) -> float | None:
    return sum(map(max, weights)) / len(weights) if weights and weights[0] else None
