"""Translations coloured by gate norms: their data and their drawing (tran2018, Figure 6)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nmtcore.layout import Layout
from nmtcore.parquet import read_rows
from nmtcore.reporting.attention_maps_reader import run_names
from nmtcore.reporting.charts import FIGURE_WIDTH, TEXT_SIZE
from nmtcore.reporting.gates_page import gate_share
from nmtcore.reporting.svg import Drawing, svg_text, text_width

SHOWN_SENTENCES = 6
"""Sentences of the figure, as many as in the paper."""

LONGEST = 25
"""Most subwords of a sentence of the figure."""

LINE_HEIGHT, PADDING = 18, 2
STRONGEST = 0.4
"""Opacity of the ground of the highest norm, on which text stays legible."""


def gates_entry(gates: Path, *, layout: Layout, sentences: int = SHOWN_SENTENCES) -> dict[str, Any]:
    """Read what the figure shows: the gate norms of the first references with at most `LONGEST` subwords.

    Args:
        gates: `{dataset}/{system}/seed{seed}/gates/{split}.parquet` of a run.
        layout: names the data set, system and seed of the path.
        sentences: the most sentences to read.

    Returns:
        The run's names; which sentences are `chosen`; `sentences` with `id`, `pieces` and `norms` without `</s>`.
    """
    shown = []
    for row in read_rows(gates, columns=["id", "pieces", "norms"]):
        pieces = row["pieces"][:-1]
        if 0 < len(pieces) <= LONGEST and len(shown) < sentences:
            shown.append({"id": row["id"], "pieces": pieces, "norms": [round(norm, 4) for norm in row["norms"][:-1]]})
    chosen = f"the first references with at most {LONGEST} subwords"
    return {**run_names(gates, "gates", layout), "chosen": chosen, "sentences": shown}


def gates_drawing(entry: Mapping[str, Any]) -> Drawing:
    """Draw a result of `gates_entry`: the larger a norm, the stronger; the largest of a sentence is bold."""
    norms = [norm for sentence in entry["sentences"] for norm in sentence["norms"]]
    low, high = min(norms, default=0.0), max(norms, default=0.0)
    elements = [svg_text(0, 12, f"{entry['system']}, norms {low:.2f} to {high:.2f}", size=TEXT_SIZE)]
    y = 20.0
    for sentence in entry["sentences"]:
        x = 0.0
        for piece, norm in zip(sentence["pieces"], sentence["norms"], strict=True):
            bold = norm == max(sentence["norms"])
            width = text_width(piece, TEXT_SIZE * (1.08 if bold else 1)) + 2 * PADDING
            if x and x + width > FIGURE_WIDTH:
                x, y = 0.0, y + LINE_HEIGHT
            opacity = STRONGEST * gate_share(norm, low, high) / 100
            elements += [
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{LINE_HEIGHT - 3}" rx="3" '
                f'fill="currentColor" fill-opacity="{opacity:.2f}"/>',
                svg_text(x + width / 2, y + 11, piece, size=TEXT_SIZE, anchor="middle", bold=bold),
            ]
            x += width + 2
        y += LINE_HEIGHT + 6
    return Drawing(elements, FIGURE_WIDTH, y + 4)
