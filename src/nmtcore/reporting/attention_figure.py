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
    shade_legend,
    svg_frame,
    svg_matrix,
    svg_text,
    text_width,
    widest,
)
from nmtcore.reporting.tree_drawing import DrawnTree, tree_drawing

CELL = 6.5
"""Width of a cell of a matrix, in pixels."""
TOKEN_SIZE, TITLE_SIZE = 6, 9
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
    """Draw a result of `attention_entry`: a row of matrices per layer."""
    sentence, tokens, title = entry["sentence"], entry["tokens"], _title(entry)
    elements, y, width = [svg_text(10, 18, title, size=12, bold=True)], 24.0, text_width(title, 13)
    if sentence["heads"] is not None:
        tree = tree_drawing(DrawnTree("", sentence["words"], sentence["heads"], sentence["labels"]))
        elements.append(f'<g transform="translate(0 {y:g})">{"".join(tree.elements)}</g>')
        y, width = y + tree.height, max(width, tree.width)
    left, side = 10 + widest(tokens, TOKEN_SIZE) + 4, CELL * len(tokens)
    columns = 1 + max(int(name.split(".")[1]) for name in entry["heads"])
    for layer in dict.fromkeys(name.split(".")[0] for name in entry["heads"]):
        matrices = {name: own for name, own in entry["heads"].items() if name.split(".")[0] == layer}
        # The tokens that are attended to are written above the first layer only.
        y += TITLE_SIZE + 4 + (widest(tokens, TOKEN_SIZE) + 4 if layer == "0" else 0)
        elements += _token_rows(tokens, left - 3, y)
        for name, matrix in matrices.items():
            head = int(name.split(".")[1])
            x = left + head * (side + SPACE)
            elements += [svg_matrix(matrix, x, y, cell=CELL)]
            elements.append(svg_frame(x, y, side, side, bold=name in entry["claimed"]))
            above = y - 4 if layer != "0" else y - widest(tokens, TOKEN_SIZE) - 8
            elements.append(svg_text(x, above, f"layer {layer}, head {head}", size=TITLE_SIZE))
            if layer == "0":
                elements += _token_columns(tokens, x, y - 3)
        y += side + SPACE
    elements += shade_legend(left, y)
    if entry["claimed"]:
        note = "framed: heads that a component of the system computes or trains"
        elements.append(svg_text(left + 180, y + 8, note, size=9))
    width = max(width, left + columns * (side + SPACE))
    return Drawing(elements, width + 10, y + LEGEND_HEIGHT + 10)


def _title(entry: Mapping[str, Any]) -> str:
    names = f"{entry['system']}, seed {entry['seed']}, {entry['dataset']}, {entry['split']}, scale {entry['scale']}"
    return f"{names}: {entry['sentence']['chosen']} (a token per row attends to those of the columns)"


def _token_rows(tokens: list[str], right: float, top: float) -> list[str]:
    """Write the tokens that attend to the left of a layer's matrices."""
    return [
        svg_text(right, top + CELL * (row + 0.8), token, size=TOKEN_SIZE, anchor="end")
        for row, token in enumerate(tokens)
    ]


def _token_columns(tokens: list[str], left: float, bottom: float) -> list[str]:
    """Write the tokens that are attended to above a matrix, from bottom to top."""
    return [
        svg_text(left + CELL * (column + 0.8), bottom, token, size=TOKEN_SIZE, upwards=True)
        for column, token in enumerate(tokens)
    ]
