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
    shade_legend,
    svg_frame,
    svg_matrix,
    svg_text,
    text_width,
    widest,
)

CELL = 13
"""Width of a cell of a matrix, in pixels."""
TOKEN_SIZE, TITLE_SIZE = 10, 11
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
    """Draw a result of `maps_entry`: a row per run."""
    title = _title(entry)
    elements, y, width = [svg_text(10, 18, title, size=12, bold=True)], 30.0, text_width(title, 13)
    for run in entry["runs"]:
        y += TITLE_SIZE + 6
        elements.append(svg_text(10, y, f"{run['system']}, seed {run['seed']}", size=12, bold=True))
        top = y + 2 * TITLE_SIZE + 12 + max(widest(own["columns"], TOKEN_SIZE) for own in run["maps"])
        x = 10.0
        for own in run["maps"]:
            drawn, right = _drawn_map(own, x, top)
            elements += drawn
            x = right + SPACE
        width = max(width, x)
        y = top + CELL * max(len(own["rows"]) for own in run["maps"]) + SPACE
    elements += shade_legend(10, y)
    return Drawing(elements, width + 10, y + LEGEND_HEIGHT + 10)


def _title(entry: Mapping[str, Any]) -> str:
    first = entry["runs"][0]
    return f"{first['dataset']}, {first['split']}, scale {first['scale']}: {entry['sentence']['chosen']}"


def _drawn_map(own: Mapping[str, Any], left: float, top: float) -> tuple[list[str], float]:
    """Draw a map whose matrix begins at the height `top`; return its elements and its right edge."""
    x = left + widest(own["rows"], TOKEN_SIZE) + 4
    rows, columns = own["rows"], own["columns"]
    elements = [
        svg_text(left, top - widest(columns, TOKEN_SIZE) - TITLE_SIZE - 10, own["title"], size=TITLE_SIZE),
        svg_text(left, top - widest(columns, TOKEN_SIZE) - 8, f"rows: {own['row']}; columns: {own['column']}", size=9),
        *_drawn_cells(rows, columns, own["weights"], x, top),
    ]
    return elements, x + max(CELL * len(columns), text_width(own["title"], TITLE_SIZE), 200)


def map_drawing(rows: Sequence[str], columns: Sequence[str], weights: Sequence[Sequence[float]]) -> Drawing:
    """Draw one map, with a row of weights from 0 to 1 per token that attends, and the shades of the weights."""
    x, top = 10 + widest(rows, LARGE_SIZE) + 4, 10 + widest(columns, LARGE_SIZE) + 8
    elements = _drawn_cells(rows, columns, weights, x, top, cell=LARGE_CELL, size=LARGE_SIZE)
    bottom = top + LARGE_CELL * len(rows) + 12
    elements += shade_legend(x, bottom)
    return Drawing(elements, x + max(LARGE_CELL * len(columns), 180) + 10, bottom + LEGEND_HEIGHT + 10)


def _drawn_cells(
    rows: Sequence[str],
    columns: Sequence[str],
    weights: Sequence[Sequence[float]],
    x: float,
    top: float,
    *,
    cell: float = CELL,
    size: float = TOKEN_SIZE,
) -> list[str]:
    """Draw a matrix whose cells begin at (x, top), with the tokens of its rows and columns."""
    elements = [
        svg_matrix(weights, x, top, cell=cell),
        svg_frame(x, top, cell * len(columns), cell * len(rows)),
    ]
    for number, token in enumerate(rows):
        elements.append(svg_text(x - 4, top + cell * (number + 0.78), token, size=size, anchor="end"))
    for number, token in enumerate(columns):
        elements.append(svg_text(x + cell * (number + 0.78), top - 4, token, size=size, upwards=True))
    return elements
