"""Figures of one sentence, with a table of what they show: attention (pham2018, 6.3; tran2018, Figure 4), and trees.

Shapes: K keys.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from nmtcore.evaluation.scores import output_files
from nmtcore.layout import Layout
from nmtcore.parquet import read_batches, read_rows
from nmtcore.reporting.seed_items import measured_cells, missing_runs
from nmtcore.reporting.sentences import ShownSentence, choose_sentence
from nmtcore.reporting.svg import Drawing, arranged, labelled_matrix, sentences_drawing, shade_legend, write_drawings
from nmtcore.reporting.tree_drawing import DrawnTree, tree_drawing, trees_drawing
from nmtcore.tables.blocks import (
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
from nmtcore.tables.cells import PlannedTable
from nmtcore.tables.labels import printed
from nmtcore.tables.trees import parse_files

ROOT = "root"
"""What stands for the head of a root."""

_ATTENTION = """
What the figure shows, and how sharp it is. Mean maximum: the mean over the tokens that attend of their largest weight;
1 if each attends to one token. The heads of words (head_selection...) are the distributions over the possible heads of
each word.
"""
_TREES = """
Each word with its head in the gold tree and in the tree with one root that each system predicts (of a system without
roots: the likeliest head of each word). Punctuation is marked, since the figure leaves it out.
"""
_FRAMED = "framed: computed or trained by a component"


def run_names(path: Path, file_type: str, layout: Layout) -> dict[str, Any]:
    """Return the scale, data set, system and seed of a run's file, and the split if its path has one."""
    names = layout.names(path, file_type)
    order = [name for name in ("scale", "dataset", "system", "seed", "split") if name in names]
    return {name: int(names[name]) if name == "seed" else names[name] for name in order}


def _ids(path: Path) -> set[int]:
    """Read the ids of the sentences of a file."""
    return {id_ for batch in read_batches(path, columns=["id"]) for id_ in batch.column("id").to_pylist()}


def attention_data(table: PlannedTable, layout: Layout) -> dict[str, Any]:
    """Read the attention of the first seed of each system on a sentence that those of a test have in common."""
    figures: list[dict[str, Any]] = []
    recurrent: dict[str, list[Path]] = {}
    for cell in measured_cells(table):
        files, claimed = cell.source["files"], cell.source["claimed"]
        (path,) = map(Path, files["attention"].values())
        if cell.source["encoder_heads"]:
            trees = files["trees"] and Path(files["trees"])
            sentence = choose_sentence(Path(files["pairs"]), trees, ids=_ids(path))
            figures.append(attention_figure(path, sentence, layout, encoder=True, claimed=claimed))
        else:
            recurrent.setdefault(files["pairs"], []).append(path)
    for pairs, paths in recurrent.items():
        sentence = choose_sentence(Path(pairs), ids=set.intersection(*map(_ids, paths)))
        figures += [attention_figure(path, sentence, layout, encoder=False) for path in paths]
    return {"figures": figures, "missing": missing_runs(table)}


def attention_figure(
    path: Path, sentence: ShownSentence, layout: Layout, *, encoder: bool, claimed: Collection[str] = ()
) -> dict[str, Any]:
    """Read the attention of a run on a sentence: of its encoder heads, or of the decoder and of components.

    Args:
        path: `{dataset}/{system}/seed{seed}/attention/{split}.parquet`.
        sentence: the sentence.
        layout: names the data set, system and seed of the path.
        encoder: whether to read the encoder's heads.
        claimed: the heads that components of the system compute or train, as "LAYER.HEAD" (`claimed_heads`).

    Returns:
        The run's names; `sentence`; and its `maps`, each with a `title`, its `layer` and `head`, what its `rows` and
        `columns` are and their `sides` stand for, `weights` with four decimals, and the `sharpness`: the mean largest
        weight of a token that attends.
    """
    maps = []
    columns = ["id", "attention", "layer", "head", "queries", "keys", "weights"]
    for batch in read_batches(path, columns=columns, size=256):
        for row in batch.filter(pc.equal(batch.column("id"), sentence.id)).to_pylist():
            if (row["attention"] == "encoder") == encoder:
                maps.append(_map(row, claimed))
    return {**run_names(path, "attention", layout), "sentence": sentence.as_json(), "encoder": encoder, "maps": maps}


def _map(row: Mapping[str, Any], claimed: Collection[str]) -> dict[str, Any]:
    """Lay out a map: target words by source words, or heads by dependents, as in the papers."""
    attention, layer, head, rows, columns = (row[key] for key in ("attention", "layer", "head", "queries", "keys"))
    weights = [[round(weight, 4) for weight in weights_K] for weights_K in row["weights"]]
    title, sides = f"layer {layer}, head {head}", ""
    if attention == "cross":
        title, sides = "decoder to source", "rows: target; columns: source"
    elif layer is not None and attention != "encoder":
        title, sides = f"decoder to heads ({attention})", "rows: target; columns: source"
    elif layer is None:
        # The rows of the file are dependents, and `</s>`, which has no head, is left out as a dependent.
        title, sides = f"heads ({attention})", "rows: head (a word itself: root); columns: dependent"
        rows = columns = columns[:-1]
        weights = [own[: len(rows)] for own in weights[: len(rows)]]
    sharpness = sum(map(max, weights)) / len(weights) if weights and weights[0] else None
    if layer is None:
        weights = [list(column) for column in zip(*weights, strict=True)]
    return {"title": title, "layer": layer, "head": head, "rows": rows, "columns": columns, "sides": sides,
            "weights": weights, "sharpness": sharpness, "claimed": f"{layer}.{head}" in claimed}  # fmt: skip


def draw_attention(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw the result of `attention_data`."""
    drawings = [drawing for own in data["figures"] for drawing in attention_drawings(own)]
    write_drawings(figure, drawings, title=title, sentences=data["missing"])


def attention_drawings(figure: Mapping[str, Any]) -> list[Drawing]:
    """Draw a result of `attention_figure`: a row of heads per layer below the tree, or maps below one another."""
    maps, sentence = figure["maps"], figure["sentence"]
    if not figure["encoder"]:
        drawings = [
            labelled_matrix(own["weights"], rows=own["rows"], columns=own["columns"], cell=13,
                            title=[f"{printed(figure['system'])}: {own['title']}", own["sides"]])
            for own in maps
        ]  # fmt: skip
        return [*drawings, shade_legend()]
    drawings = [sentences_drawing([printed(figure["system"])])]
    if sentence["heads"] is not None:
        drawings.append(tree_drawing(DrawnTree("", sentence["words"], sentence["heads"], sentence["labels"])))
    # Tokens stand beside the first head of each layer, and above the heads of the first layer.
    heads = [
        labelled_matrix(own["weights"], rows=[] if own["head"] else own["rows"], cell=8, size=8, title=[own["title"]],
                        columns=[] if own["layer"] else own["columns"], bold=own["claimed"])
        for own in maps
    ]  # fmt: skip
    drawings.append(arranged(heads, 1 + max(own["head"] for own in maps)))
    return [*drawings, shade_legend(_FRAMED if any(own["claimed"] for own in maps) else "")]


def attention_blocks(data: Mapping[str, Any]) -> list[Block]:
    """Show the sentences and matrices of the figure."""
    rows, shown = [], {}
    for figure in data["figures"]:
        system, names = figure["system"], f"{figure['dataset']}, {figure['split']}"
        shown[names if not figure["encoder"] else f"{system}, {names}"] = figure["sentence"]
        for own in figure["maps"]:
            numbers = with_origin([figure["seed"], own["sharpness"]], f"{figure['dataset']}/{system}")
            rows.append([system, numbers[0], own["title"], numbers[1]])
    blocks: list[Block] = [
        Paragraph(f"{names}: {own['chosen']}: ", corpus=" ".join(own["words"])) for names, own in shown.items()
    ]
    columns = [
        *text_columns("system"), *number_columns("seed"), *text_columns("attention"),
        *number_columns("mean maximum", digits=3),
    ]  # fmt: skip
    blocks += [make_table(columns, rows), note(_ATTENTION)] if rows else []
    return [*blocks, *item_blocks(data["missing"])]


def trees_data(table: PlannedTable, layout: Layout) -> dict[str, Any]:
    """Read the gold tree of a sentence of each treebank, and those by the first seed of each system.

    Each of `sentences` has its `split`, `dataset`, `sentence`, `punctuation` (a mark per word) and `runs`, with names
    and `heads` (1-based, 0 = root): the tree with one root, or without roots the likeliest head of each word.
    """
    treebanks: dict[tuple[str, str, str], list[Any]] = {}
    for cell in measured_cells(table):
        files = cell.source["files"]
        treebanks.setdefault((files["pairs"], files["trees"], cell.test), []).append(cell.source)
    entries = []
    for (pairs, trees, split), sources in treebanks.items():
        ids = set.intersection(*(_ids(parse_files(source)[0]) for source in sources))
        sentence, runs = choose_sentence(Path(pairs), Path(trees), ids=ids), []
        for source in sources:
            folder = Path(next(iter(source["files"]["gold_parses"].values())))
            rows = read_rows(output_files(folder).parses, columns=["id", "argmax", "one_root"])
            row = next(row for row in rows if row["id"] == sentence.id)
            heads = row["argmax"] if row["one_root"] is None else row["one_root"]
            runs.append({**run_names(folder, "gold_parses", layout), "heads": heads})
        names = {"split": split, "dataset": runs[0]["dataset"]}
        entries.append({**names, "sentence": sentence.as_json(), "punctuation": sentence.punctuation, "runs": runs})
    return {"sentences": entries, "missing": missing_runs(table)}


def draw_trees(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw the result of `trees_data`."""
    sentences = [
        f"Treebank {entry['split']}: {entry['sentence']['chosen']}; without punctuation and roots."
        for entry in data["sentences"]
    ]
    drawings = [trees_drawing(drawn_trees(entry)) for entry in data["sentences"]]
    write_drawings(figure, drawings, title=title, sentences=[*sentences, *data["missing"]])


def drawn_trees(entry: Mapping[str, Any]) -> list[DrawnTree]:
    """List the gold tree and that of each run, as in the paper (tran2018, Figure 5) without punctuation and roots."""
    sentence = entry["sentence"]
    common = {"words": sentence["words"], "ignored": entry["punctuation"], "roots": False}
    gold = DrawnTree("gold", heads=sentence["heads"], labels=sentence["labels"], **common)
    return [
        gold,
        *(
            DrawnTree(
                f"{printed(run['system'])}, seed {run['seed']}, scale {run['scale']}", heads=run["heads"], **common
            )
            for run in entry["runs"]
        ),
    ]


def trees_blocks(data: Mapping[str, Any]) -> list[Block]:
    """Show the heads of each word as words."""
    blocks = [block for entry in data["sentences"] for block in _tabulated(entry)]
    return [*blocks, *([note(_TREES)] if blocks else []), *item_blocks(data["missing"])]


def _tabulated(entry: Mapping[str, Any]) -> Iterator[Block]:
    words, trees = entry["sentence"]["words"], [entry["sentence"], *entry["runs"]]
    systems = [f"{run['system']}, seed {run['seed']}" for run in entry["runs"]]
    columns = [Column(name=name, content="corpus") for name in ("word", "gold", *systems)]
    rows = [
        [word, *(_head(words, own["heads"][number], number) for own in trees), "yes" if mark else ""]
        for number, (word, mark) in enumerate(zip(words, entry["punctuation"], strict=True))
    ]
    yield Paragraph(f"{entry['dataset']}, {entry['split']}: {entry['sentence']['chosen']}.")
    yield make_table([*columns, *text_columns("punctuation")], rows)


def _head(words: Sequence[str], head: int, number: int) -> str:
    """Name a head by its position and word; a word that is its own head, as without roots, counts as a root."""
    return ROOT if head in (0, number + 1) else f"{head} {words[head - 1]}"
