"""Attention maps of recurrent systems on one sentence: their data and their drawing (tran2018, Figure 4).

For each system: the distributions over the heads of each word (head selection), and the attention of the decoder to the
source.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.errors import UserError
from nmtcore.layout import Layout
from nmtcore.reporting.attention_maps_reader import SentenceMap, common_ids, read_sentence_maps, run_names
from nmtcore.reporting.sentences import choose_sentence
from nmtcore.reporting.svg import (
    LEGEND_HEIGHT,
    Drawing,
    labelled_matrix,
    shade_legend,
    svg_text,
    text_width,
    widest,
)

CELL = 13
"""Width of a cell of a matrix, in pixels."""
TOKEN_SIZE = 10.7
LARGE_CELL, LARGE_SIZE = 19, 13
"""The cells and tokens of a map that stands alone."""
SPACE = 24
"""Between two matrices, in pixels."""


def maps_entry(attention: Sequence[Path], *, pairs: Path, layout: Layout) -> dict[str, Any]:
    """Read what the figure shows: the attention maps of each run on a sentence (`choose_sentence`).

    Args:
        attention: `{dataset}/{system}/seed{seed}/attention/{split}.parquet` of every run, of one data set and scale.
        pairs: the sentence pairs of the split.
        layout: names the data set, system and seed of each path.

    Returns:
        `sentence`, and `runs`, the names of each run and its `maps`. A map has a `title`, what its `rows` and `columns`
        stand for and are, and `weights`, a list per row.

    Raises:
        UserError: if a system has more than one cross attention head, or if there is no such sentence.
    """
    sentence = choose_sentence(pairs, ids=common_ids(attention))
    runs = []
    for path in attention:
        maps = [own for own in read_sentence_maps(path, sentence.id) if own.attention != "encoder"]
        if sum(own.attention == "cross" for own in maps) > 1:
            raise UserError(f"{path}: the decoder has several attention heads: draw systems whose base is recurrent.")
        runs.append({**run_names(path, "attention", layout), "maps": [_map_entry(own) for own in maps]})
    return {"sentence": sentence.as_json(), "runs": runs}


def _map_entry(own: SentenceMap) -> dict[str, Any]:
    """Lay out a map: target words by source words, or heads by dependents, as in the paper."""
    if own.layer is not None:
        title = "decoder to source" if own.attention == "cross" else f"decoder to heads ({own.attention})"
        sides = {"rows": own.queries, "columns": own.keys, "row": "target", "column": "source"}
        return {"title": title, **sides, "weights": own.weights}
    # The rows of the file are dependents, and `</s>`, which has no head, is left out as a dependent.
    transposed = [list(column) for column in zip(*own.weights, strict=True)]
    words = own.keys[:-1]
    weights = [row[: len(words)] for row in transposed[: len(words)]]
    sides = {"rows": words, "columns": words, "row": "head (a word itself: root)", "column": "dependent"}
    return {"title": f"heads ({own.attention})", **sides, "weights": weights}


def maps_drawing(entry: Mapping[str, Any]) -> Drawing:
    """Draw a result of `maps_entry`: the maps of the runs below one another, in a column."""
    elements, y, width = [], 0.0, 0.0
    for run in entry["runs"]:
        for own in run["maps"]:
            left, above = widest(own["rows"], TOKEN_SIZE) + 6, widest(own["columns"], TOKEN_SIZE) + 8
            lines = [f"{run['system']}: {own['title']}", f"rows: {own['row']}; columns: {own['column']}"]
            elements += [svg_text(0, y + 12 + 13 * number, line, size=TOKEN_SIZE) for number, line in enumerate(lines)]
            y += 30 + above
            names = {"rows": own["rows"], "columns": own["columns"]}
            elements += labelled_matrix(own["weights"], left, y, cell=CELL, size=TOKEN_SIZE, **names)
            y += CELL * len(own["rows"]) + SPACE
            width = max(width, left + CELL * len(own["columns"]), *(text_width(line, TOKEN_SIZE) for line in lines))
    elements += shade_legend(0, y)
    return Drawing(elements, width + 4, y + LEGEND_HEIGHT + 4)


def map_drawing(rows: Sequence[str], columns: Sequence[str], weights: Sequence[Sequence[float]]) -> Drawing:
    """Draw one map, with a row of weights from 0 to 1 per token that attends, and the shades of the weights."""
    x, top = 10 + widest(rows, LARGE_SIZE) + 4, 10 + widest(columns, LARGE_SIZE) + 8
    elements = labelled_matrix(weights, x, top, cell=LARGE_CELL, size=LARGE_SIZE, rows=rows, columns=columns)
    bottom = top + LARGE_CELL * len(rows) + 12
    elements += shade_legend(x, bottom)
    return Drawing(elements, x + max(LARGE_CELL * len(columns), 180) + 10, bottom + LEGEND_HEIGHT + 10)
