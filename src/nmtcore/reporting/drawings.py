"""Figures of attention and of trees, each with a table of what it shows: the encoder heads of transformers, the maps of
recurrent systems, the sharpness of heads, and the trees that systems predict."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.evaluation.sharpness import BINS
from nmtcore.files import write_text
from nmtcore.layout import Layout
from nmtcore.measures.trees import parse_files
from nmtcore.parquet import read_rows
from nmtcore.reporting.attention_figure import attention_drawing, attention_entry
from nmtcore.reporting.charts import write_svg
from nmtcore.reporting.induced_trees_figure import drawn_trees, induced_trees_entry
from nmtcore.reporting.maps_figure import maps_drawing, maps_entry
from nmtcore.reporting.seed_items import measured_cells, missing_runs
from nmtcore.reporting.sharpness_figure import LOWEST_BIN, sharpness_bars, sharpness_chart, sharpness_entries
from nmtcore.reporting.svg import titled_svg
from nmtcore.reporting.table import (
    Block,
    Column,
    Paragraph,
    item_blocks,
    make_table,
    note,
    number_columns,
    text_columns,
    with_origin,
)
from nmtcore.reporting.tree_drawing import trees_drawing

ROOT = "root"
"""What stands for the head of a root."""

_ATTENTION = """
What the figure shows, and how sharp it is. Mean maximum: the mean over the tokens that attend of their largest weight;
1 if each attends to one token. The heads of words (head_selection...) are the distributions over the possible heads of
each word.
"""
_SHARPNESS = """
Attention in the encoder on the first sentences of a test, all seeds together. Mean maximum: the mean over the tokens
that attend of their largest weight. Mean entropy: of the weights of a token, in bits; 0 if it attends to one token.
Claimed: a component of the system computes or trains the head, or a head of the layer.
"""
_TREES = """
Each word with its head in the gold tree and in the tree with one root that each system predicts (of a system without
roots: the likeliest head of each word). Punctuation is marked, since the figure leaves it out.
"""


def attention_data(table: PlannedTable, layout: Layout) -> dict[str, Any]:
    """Read the attention of the first seed of each system on a sentence."""
    encoders: list[dict[str, Any]] = []
    recurrent: dict[str, list[Path]] = {}
    for cell in measured_cells(table):
        source, files = cell.source, cell.source["files"]
        (path,) = map(Path, files["attention"].values())
        if source["encoder_heads"]:
            trees = None if files["trees"] is None else Path(files["trees"])
            pairs = Path(files["pairs"])
            encoders.append(attention_entry(path, pairs=pairs, trees=trees, layout=layout, claimed=source["claimed"]))
        else:
            recurrent.setdefault(files["pairs"], []).append(path)
    maps = [maps_entry(files, pairs=Path(pairs), layout=layout) for pairs, files in recurrent.items()]
    return {"encoders": encoders, "maps": maps, "missing": missing_runs(table)}


def draw_attention(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw the result of `attention_data`."""
    drawings = [*map(attention_drawing, data["encoders"]), *map(maps_drawing, data["maps"])]
    write_text(figure, titled_svg(title, drawings, data["missing"]))


def attention_blocks(data: Mapping[str, Any]) -> list[Block]:
    """Show the sentences and matrices of the figure."""
    rows, blocks = [], []
    for entry in data["encoders"]:
        blocks.append(_sentence(entry, entry))
        rows += [_row(entry, f"layer {name.replace('.', ', head ')}", own) for name, own in entry["heads"].items()]
    for entry in data["maps"]:
        blocks.append(_sentence(entry, {**entry["runs"][0], "system": ""}))
        for run in entry["runs"]:
            rows += [_row(run, own["title"], _queries(own)) for own in run["maps"]]
    columns = [
        *text_columns("system"), *number_columns("seed"), *text_columns("attention"),
        *number_columns("mean maximum", digits=3),
    ]  # fmt: skip
    blocks += [make_table(columns, rows), note(_ATTENTION)] if rows else []
    return [*blocks, *item_blocks(data["missing"])]


def _sentence(entry: Mapping[str, Any], run: Mapping[str, Any]) -> Block:
    names = ", ".join(filter(None, (run["system"], run["dataset"], run["split"])))
    return Paragraph(f"{names}: {entry['sentence']['chosen']}: ", corpus=" ".join(entry["sentence"]["words"]))


def _row(run: Mapping[str, Any], title: str, weights: list[list[float]]) -> list[Any]:
    sharpness = sum(map(max, weights)) / len(weights) if weights and weights[0] else None
    seed, shown = with_origin([run["seed"], sharpness], f"{run['dataset']}/{run['system']}")
    return [run["system"], seed, title, shown]


def _queries(own: Mapping[str, Any]) -> list[list[float]]:
    """Return the weights of a map with one row per token that attends: a dependent, in maps of heads."""
    weights = own["weights"]
    return weights if own["column"] == "source" else [list(column) for column in zip(*weights, strict=True)]


def sharpness_data(table: PlannedTable, layout: Layout) -> dict[str, Any]:
    """Count the weights of the encoder heads of all systems.

    The fact `layer` chooses the layer whose heads are shown one by one; of a model with fewer layers it is the last.
    Bins below the fact `bins_from` are not drawn.
    """
    layer = None if "layer" not in table.facts else int(table.facts["layer"])
    systems = []
    for cell in measured_cells(table):
        (entry,) = sharpness_entries(list(map(Path, cell.source["files"]["attention"].values())), layout)
        last = max(map(int, entry["layers"]))
        shown = None if layer is None else min(layer, last)
        systems.append({**entry, "claimed": cell.source["claimed"], "layer": shown, "last_layer": last})
    return {
        "systems": systems,
        "lowest_bin": round(table.facts["bins_from"] * BINS) if "bins_from" in table.facts else LOWEST_BIN,
        "remarks": _remarks(systems, layer, table.facts.get("first_sentences")),
        "missing": missing_runs(table),
    }


def draw_sharpness(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw the result of `sharpness_data`."""
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
    write_svg(sharpness_chart(bars, by_head=by_head), figure)


def sharpness_blocks(data: Mapping[str, Any]) -> list[Block]:
    """Tabulate layers and, of the layer that is shown by head, heads."""
    rows = []
    for entry in data["systems"]:
        origin = f"{entry['dataset']}/{entry['system']}"
        names = [entry["system"], entry["dataset"], entry["split"]]
        names += with_origin([len(entry["seeds"]), entry["sentences"]], origin)
        for number, counts in entry["layers"].items():
            claimed = any(name.split(".")[0] == number for name in entry["claimed"])
            means = with_origin([counts["mean_maximum"], counts["mean_entropy"]], origin)
            rows.append([*names, int(number), None, *means, "yes" if claimed else ""])
            for name, own in entry["heads"].items():
                if str(entry["layer"]) == number == name.split(".")[0]:
                    means = with_origin([own["mean_maximum"], own["mean_entropy"]], origin)
                    claimed = "yes" if name in entry["claimed"] else ""
                    rows.append([*names, int(number), int(name.split(".")[1]), *means, claimed])
    columns = [
        *text_columns("system", "data set", "test"),
        *number_columns("seeds", "sentences", "layer", "head"),
        *number_columns("mean maximum", "mean entropy", digits=3),
        *text_columns("claimed"),
    ]
    blocks = [make_table(columns, rows), note(_SHARPNESS)] if rows else []
    return [*blocks, *item_blocks(data["remarks"]), *item_blocks(data["missing"])]


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


def trees_data(table: PlannedTable, layout: Layout) -> dict[str, Any]:
    """Read the trees of a sentence of each treebank, by the first seed of each system."""
    treebanks: dict[tuple[str, str, str], list[Any]] = {}
    for cell in measured_cells(table):
        files = cell.source["files"]
        treebanks.setdefault((files["pairs"], files["trees"], cell.split), []).append(cell.source)
    entries = []
    for (pairs, trees, split), sources in treebanks.items():
        ids = set.intersection(*(_ids(parse_files(source)[0]) for source in sources))
        folders = [Path(next(iter(source["files"]["gold_parses"].values()))) for source in sources]
        entries.append(
            induced_trees_entry(folders, split=split, pairs=Path(pairs), trees=Path(trees), layout=layout, ids=ids)
        )
    return {"sentences": entries, "missing": missing_runs(table)}


def draw_trees(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw the result of `trees_data`."""
    sentences = [
        f"Treebank {entry['split']}: {entry['sentence']['chosen']}; without punctuation and roots."
        for entry in data["sentences"]
    ]
    drawings = [trees_drawing(drawn_trees(entry)) for entry in data["sentences"]]
    write_text(figure, titled_svg(title, drawings, [*sentences, *data["missing"]]))


def _ids(parses: Path) -> set[int]:
    return {row["id"] for row in read_rows(parses, columns=["id"])}


def trees_blocks(data: Mapping[str, Any]) -> list[Block]:
    """Show the heads of each word as words."""
    blocks = [block for entry in data["sentences"] for block in _tabulated(entry)]
    return [*blocks, *([note(_TREES)] if blocks else []), *item_blocks(data["missing"])]


def _tabulated(entry: Mapping[str, Any]) -> Iterator[Block]:
    words = entry["sentence"]["words"]
    systems = [f"{run['system']}, seed {run['seed']}" for run in entry["runs"]]
    columns = [Column(name=name, content="corpus") for name in ("word", "gold", *systems)]
    heads = [entry["sentence"]["heads"], *(run["heads"] for run in entry["runs"])]
    rows = [
        [word, *(_head(words, own[number], number) for own in heads), "yes" if mark else ""]
        for number, (word, mark) in enumerate(zip(words, entry["punctuation"], strict=True))
    ]
    yield Paragraph(f"{entry['runs'][0]['dataset']}, {entry['split']}: {entry['sentence']['chosen']}.")
    yield make_table([*columns, *text_columns("punctuation")], rows)


def _head(words: list[str], head: int, number: int) -> str:
    """Name a head by its position and word; a word that is its own head, as without roots, counts as a root."""
    return ROOT if head in (0, number + 1) else f"{head} {words[head - 1]}"
