"""The attention of all encoder heads on one sentence, with its tree: its data and its drawing (pham2018, 6.3)."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from nmtcore.errors import UserError
from nmtcore.layout import Layout
from nmtcore.reporting.attention_maps_reader import attention_ids, read_sentence_maps, run_names
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
from nmtcore.reporting.tree_drawing import DrawnTree, tree_drawing

CELL = 8
"""Width of a cell of a matrix, in pixels."""
TOKEN_SIZE, TITLE_SIZE = 8, 10.7
SPACE = 10
"""Between two matrices, in pixels."""


def attention_entry(
    attention: Path, *, pairs: Path, trees: Path | None, layout: Layout, claimed: Collection[str] = ()
) -> dict[str, Any]:
    """Read what the figure shows: the attention of every encoder head on a sentence (`choose_sentence`).

    Args:
        attention: `{dataset}/{system}/seed{seed}/attention/{split}.parquet` of a run.
        pairs: the sentence pairs of the split.
        trees: the annotation of the source side; None for no tree.
        layout: names the data set, system and seed of the path.
        claimed: the heads that components of the system compute or train, as "LAYER.HEAD" (`claimed_heads`), which are
            framed.

    Returns:
        The run's names; `sentence` and its `tokens`; `claimed`; and `heads`, matrices by "LAYER.HEAD", with one row per
        token that attends, and one column per token that it attends to.

    Raises:
        UserError: if the encoder has no heads, or if there is no such sentence.
    """
    sentence = choose_sentence(pairs, trees, ids=attention_ids(attention))
    maps = [own for own in read_sentence_maps(attention, sentence.id) if own.attention == "encoder"]
    if not maps:
        raise UserError(f"{attention} has no attention of encoder heads: draw a system whose base is the transformer.")
    return {
        **run_names(attention, "attention", layout),
        "sentence": sentence.as_json(),
        "tokens": maps[0].keys,
        "claimed": sorted(claimed),
        "heads": {f"{own.layer}.{own.head}": own.weights for own in maps},
    }


def attention_drawing(entry: Mapping[str, Any]) -> Drawing:
    """Draw a result of `attention_entry`: a row of matrices per layer; a token per row attends to those of columns."""
    sentence, tokens = entry["sentence"], entry["tokens"]
    elements, y, width = [svg_text(0, 12, entry["system"], size=TITLE_SIZE)], 16.0, 0.0
    if sentence["heads"] is not None:
        tree = tree_drawing(DrawnTree("", sentence["words"], sentence["heads"], sentence["labels"]))
        elements.append(f'<g transform="translate(0 {y:g})">{"".join(tree.elements)}</g>')
        y, width = y + tree.height, tree.width
    left, side = widest(tokens, TOKEN_SIZE) + 6, CELL * len(tokens)
    for layer in dict.fromkeys(name.split(".")[0] for name in entry["heads"]):
        # The tokens that are attended to are written above the first layer only.
        columns = tokens if layer == "0" else []
        above = widest(columns, TOKEN_SIZE) + 8
        y += TITLE_SIZE + above
        for name, matrix in entry["heads"].items():
            if name.split(".")[0] == layer:
                head = int(name.split(".")[1])
                x = left + head * (side + SPACE)
                rows = [] if head else tokens
                sides = {"rows": rows, "columns": columns, "bold": name in entry["claimed"]}
                elements += labelled_matrix(matrix, x, y, cell=CELL, size=TOKEN_SIZE, **sides)
                elements.append(svg_text(x, y - above + 4, f"layer {layer}, head {head}", size=TITLE_SIZE))
                width = max(width, x + side)
        y += side + SPACE
    elements += shade_legend(left, y)
    if entry["claimed"]:
        note = "framed: heads that a component of the system computes or trains"
        elements.append(svg_text(left + 180, y + 8, note, size=TITLE_SIZE))
        width = max(width, left + 180 + text_width(note, TITLE_SIZE))
    return Drawing(elements, width + 4, y + LEGEND_HEIGHT + 4)
