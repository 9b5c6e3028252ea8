"""Figures of one sentence, with a table of what they show: attention (pham2018, 6.3; tran2018, Figure 4), and trees.

Shapes: K keys.
"""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.compute as pc

from nmtcore.drawing.svg import Drawing, arranged, labelled_matrix, sentences_drawing, shade_legend, write_drawings
from nmtcore.drawing.trees import DrawnTree, tree_drawing, trees_drawing
from nmtcore.errors import UserError
from nmtcore.evaluation.attachment import is_punctuation
from nmtcore.evaluation.scores import output_files
from nmtcore.parquet import paired_batches, read_batches, read_rows
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
from nmtcore.tables.cells import Cell, PlannedTable
from nmtcore.tables.query import Frame, Results, Row, measured_cells, rows_by
from nmtcore.tables.render import printed
from nmtcore.tables.sheets import missing_runs
from nmtcore.tables.trees import parse_files

GOLD = "gold"
"""The system of the trees of a treebank."""

ROOT = "root"
"""What stands for the head of a root."""

FEWEST_WORDS, MOST_WORDS = 8, 15
"""Numbers of words of the sentence that a figure shows."""

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


class ShownSentence(NamedTuple):
    """A sentence of the source side and its tree, one entry per word; None for what its annotation lacks."""

    id: int
    words: list[str]
    heads: list[int] | None = None
    """1-based, 0 = root."""
    labels: list[str] | None = None
    upos: list[str] | None = None

    @property
    def punctuation(self) -> list[bool]:
        """Mark the words that are punctuation."""
        return is_punctuation(self.words, self.upos)

    def as_json(self) -> dict[str, Any]:
        """Return the sentence and how it was chosen, as plain values."""
        tree = " and a tree" if self.heads is not None else ""
        words = f"{FEWEST_WORDS} to {MOST_WORDS} words" + " or nearly as many" * bool(_words_outside(len(self.words)))
        return {**self._asdict(), "chosen": f"the first sentence with {words}{tree}"}


def _words_outside(words: int) -> int:
    """Return by how many words a sentence is too short or too long for a figure; 0 if it is neither."""
    return max(FEWEST_WORDS - words, words - MOST_WORDS, 0)


def choose_sentence(pairs: Path, trees: Path | None = None, *, ids: Collection[int] | None = None) -> ShownSentence:
    """Choose the first sentence with `FEWEST_WORDS` to `MOST_WORDS` words and, with `trees`, a tree.

    If there is none, it is the first sentence whose number of words is nearest to these.

    Args:
        pairs: the sentence pairs of a split.
        trees: the annotation of the source side.
        ids: the sentences to choose from; all by default.

    Raises:
        UserError: if there is no sentence with words and, with `trees`, a tree.
    """
    best: ShownSentence | None = None
    for row in _sentence_rows(pairs, trees):
        words = row["source_words"]
        if not words or (ids is not None and row["id"] not in ids) or (trees is not None and row["head"] is None):
            continue
        if best is None or _words_outside(len(words)) < _words_outside(len(best.words)):
            best = ShownSentence(row["id"], words, row.get("head"), row.get("deprel"), row.get("upos"))
        if not _words_outside(len(words)):
            break
    if best is not None:
        return best
    among = "" if ids is None else f" among the {len(ids)} to choose from"
    raise UserError(
        f"{pairs} has no sentence with words{'' if trees is None else ' and a tree'}"
        f"{among}, so there is nothing to draw: leave this figure out, or use a larger scale."
    )


def _sentence_rows(pairs: Path, trees: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the ids and words of sentences, with their trees if there are any."""
    if trees is None:
        for batch in read_batches(pairs, columns=["id", "source_words"]):
            yield from batch.to_pylist()
        return
    for words, annotation in paired_batches(pairs, trees, columns=(["source_words"], ["head", "deprel", "upos"])):
        for row, tree in zip(words.to_pylist(), annotation.to_pylist(), strict=True):
            yield {**row, **tree}


def _ids(path: Path) -> set[int]:
    """Read the ids of the sentences of a file."""
    return {id_ for batch in read_batches(path, columns=["id"]) for id_ in batch.column("id").to_pylist()}


def map_rows(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Read the attention of the first seed of each system on a sentence: of its encoder heads, or of the decoder.

    Systems without encoder heads share the sentence, which their tests have in common.
    """
    recurrent: dict[str, list[Cell]] = {}
    for cell in measured_cells(table):
        files = cell.source["files"]
        if cell.source["encoder_heads"]:
            trees = files["trees"] and Path(files["trees"])
            yield from _maps(cell, choose_sentence(Path(files["pairs"]), trees, ids=_ids(_attention_file(cell)[1])))
        else:
            recurrent.setdefault(files["pairs"], []).append(cell)
    for pairs, cells in recurrent.items():
        ids = set.intersection(*(_ids(_attention_file(cell)[1]) for cell in cells))
        sentence = choose_sentence(Path(pairs), ids=ids)
        for cell in cells:
            yield from _maps(cell, sentence)


def _attention_file(cell: Cell) -> tuple[int, Path]:
    """Return the seed and the file of a cell's attention."""
    ((seed, path),) = cell.source["files"]["attention"].items()
    return int(seed), Path(path)


def _maps(cell: Cell, sentence: ShownSentence) -> Iterator[Row]:
    """Yield the maps of a run's encoder heads, or of its decoder and components, on a sentence."""
    (seed, path), encoder = _attention_file(cell), cell.source["encoder_heads"]
    names = {**_names(cell, seed), "encoder": encoder, **_of_sentence(sentence)}
    columns = ["id", "attention", "layer", "head", "queries", "keys", "weights"]
    for batch in read_batches(path, columns=columns, size=256):
        for row in batch.filter(pc.equal(batch.column("id"), sentence.id)).to_pylist():
            if (row["attention"] == "encoder") == encoder:
                matrix = _map(row)
                yield {**names, **matrix, "claimed": f"{matrix['layer']}.{matrix['head']}" in cell.source["claimed"]}


def _names(cell: Cell, seed: int) -> Row:
    dataset, _, system = cell.runs.partition("/")
    return {"dataset": dataset, "system": system, "runs": cell.runs, "test": cell.source["split"], "seed": seed}


def _of_sentence(sentence: ShownSentence) -> Row:
    return {key: value for key, value in sentence.as_json().items() if key not in ("id", "upos")}


def _map(row: Row) -> Row:
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
        weights = [weights_K[: len(rows)] for weights_K in weights[: len(rows)]]
    sharpness = sum(map(max, weights)) / len(weights) if weights and weights[0] else None
    if layer is None:
        weights = [list(column) for column in zip(*weights, strict=True)]
    return {"title": title, "layer": layer, "head": head, "rows": rows, "columns": columns, "sides": sides,
            "weights": weights, "sharpness": sharpness}  # fmt: skip


def draw_attention(frame: Frame, figure: Path, *, title: str) -> None:
    """Draw the maps of each system."""
    systems = rows_by(frame.rows, "runs", "test").values()
    drawings = [drawing for maps in systems for drawing in attention_drawings(maps)]
    write_drawings(figure, drawings, title=title, sentences=missing_runs(frame.table))


def attention_drawings(maps: Sequence[Row]) -> list[Drawing]:
    """Draw the maps of a system: a row of heads per layer below the tree, or maps below one another."""
    first = maps[0]
    if not first["encoder"]:
        drawings = [
            labelled_matrix(matrix["weights"], rows=matrix["rows"], columns=matrix["columns"], cell=13,
                            title=[f"{printed(matrix['system'])}: {matrix['title']}", matrix["sides"]])
            for matrix in maps
        ]  # fmt: skip
        return [*drawings, shade_legend()]
    drawings = [sentences_drawing([printed(first["system"])])]
    if first["heads"] is not None:
        drawings.append(tree_drawing(DrawnTree("", first["words"], first["heads"], first["labels"])))
    # Tokens stand beside the first head of each layer, and above the heads of the first layer.
    heads = [
        labelled_matrix(matrix["weights"], rows=[] if matrix["head"] else matrix["rows"], cell=8, size=8,
                        title=[matrix["title"]], columns=[] if matrix["layer"] else matrix["columns"],
                        bold=matrix["claimed"])
        for matrix in maps
    ]  # fmt: skip
    drawings.append(arranged(heads, 1 + max(matrix["head"] for matrix in maps)))
    return [*drawings, shade_legend(_FRAMED if any(matrix["claimed"] for matrix in maps) else "")]


def attention_blocks(frame: Frame) -> list[Block]:
    """Show the sentences and matrices of the figure."""
    rows, sentences = [], {}
    for row in frame.rows:
        names = f"{row['dataset']}, {row['test']}"
        sentences[f"{row['system']}, {names}" if row["encoder"] else names] = row
        numbers = with_origin([row["seed"], row["sharpness"]], row["runs"])
        rows.append([row["system"], numbers[0], row["title"], numbers[1]])
    blocks: list[Block] = [
        Paragraph(f"{names}: {row['chosen']}: ", corpus=" ".join(row["words"])) for names, row in sentences.items()
    ]
    columns = [
        *text_columns("system"), *number_columns("seed"), *text_columns("attention"),
        *number_columns("mean maximum", digits=3),
    ]  # fmt: skip
    blocks += [make_table(columns, rows), note(_ATTENTION)] if rows else []
    return [*blocks, *item_blocks(missing_runs(frame.table))]


def tree_rows(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Read the gold tree of a sentence of each treebank, and those by the first seed of each system.

    That is the tree with one root, or without roots the likeliest head of each word.
    """
    treebanks: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in measured_cells(table):
        files = cell.source["files"]
        treebanks.setdefault((files["pairs"], files["trees"], cell.test), []).append(cell)
    for (pairs, trees, _), cells in treebanks.items():
        ids = set.intersection(*(_ids(parse_files(cell.source)[0]) for cell in cells))
        sentence = choose_sentence(Path(pairs), Path(trees), ids=ids)
        common = {**_of_sentence(sentence), "punctuation": sentence.punctuation}
        yield {**_names(cells[0], 0), **common, "system": GOLD, "runs": None, "seed": None}
        for cell in cells:
            ((seed, folder),) = cell.source["files"]["gold_parses"].items()
            rows = read_rows(output_files(Path(folder)).parses, columns=["id", "argmax", "one_root"])
            row = next(row for row in rows if row["id"] == sentence.id)
            heads = row["argmax"] if row["one_root"] is None else row["one_root"]
            yield {**_names(cell, int(seed)), **common, "heads": heads, "labels": None}


def draw_trees(frame: Frame, figure: Path, *, title: str) -> None:
    """Draw the trees of each treebank, as in the paper (tran2018, Figure 5) without punctuation and roots."""
    treebanks = list(rows_by(frame.rows, "dataset", "test").values())
    sentences = [
        f"Treebank {trees[0]['test']}: {trees[0]['chosen']}; without punctuation and roots." for trees in treebanks
    ]
    drawings = [trees_drawing([_drawn(tree, frame.table.scale) for tree in trees]) for trees in treebanks]
    write_drawings(figure, drawings, title=title, sentences=[*sentences, *missing_runs(frame.table)])


def _drawn(tree: Row, scale: str) -> DrawnTree:
    name = GOLD if tree["seed"] is None else f"{printed(tree['system'])}, seed {tree['seed']}, scale {scale}"
    drawn = {"words": tree["words"], "heads": tree["heads"], "labels": tree["labels"]}
    return DrawnTree(name, **drawn, ignored=tree["punctuation"], roots=False)


def tree_blocks(frame: Frame) -> list[Block]:
    """Show the heads of each word as words."""
    treebanks = rows_by(frame.rows, "dataset", "test").values()
    blocks = [block for trees in treebanks for block in _tabulated(trees)]
    return [*blocks, *([note(_TREES)] if blocks else []), *item_blocks(missing_runs(frame.table))]


def _tabulated(trees: Sequence[Row]) -> Iterator[Block]:
    gold = trees[0]
    systems = [f"{tree['system']}, seed {tree['seed']}" for tree in trees[1:]]
    columns = [Column(name=name, content="corpus") for name in ("word", GOLD, *systems)]
    rows = [
        [word, *(_head(gold["words"], tree["heads"][number], number) for tree in trees), "yes" if mark else ""]
        for number, (word, mark) in enumerate(zip(gold["words"], gold["punctuation"], strict=True))
    ]
    yield Paragraph(f"{gold['dataset']}, {gold['test']}: {gold['chosen']}.")
    yield make_table([*columns, *text_columns("punctuation")], rows)


def _head(words: Sequence[str], head: int, number: int) -> str:
    """Name a head by its position and word; a word that is its own head, as without roots, counts as a root."""
    return ROOT if head in (0, number + 1) else f"{head} {words[head - 1]}"
