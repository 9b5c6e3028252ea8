"""Translations coloured by gate norms: their data and their drawing (tran2018, Figure 6)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nmtcore.inference.schemas import shades
from nmtcore.layout import Layout
from nmtcore.parquet import read_rows
from nmtcore.reporting.attention_maps_reader import run_names
from nmtcore.reporting.gates_page import piece_colours
from nmtcore.reporting.svg import Drawing, svg_text, text_width

SHOWN_SENTENCES = 6
"""Sentences of the figure, as many as in the paper."""

LONGEST = 25
"""Most subwords of a sentence of the figure."""

LINE_WIDTH = 900
SIZE, LINE_HEIGHT, PADDING = 13, 22, 3


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
    """Draw a result of `gates_entry`: the larger a norm in its sentence, the darker; the largest is bold."""
    title = _title(entry)
    notes = "the larger the norm of the gate, compared with the rest of the sentence, the darker; the largest is bold"
    elements = [svg_text(10, 18, title, size=12, bold=True), svg_text(10, 33, notes, size=11)]
    y = 44.0
    for sentence in entry["sentences"]:
        x = 10.0
        for piece, shade in zip(sentence["pieces"], shades(np.array(sentence["norms"])).tolist(), strict=True):
            width = text_width(piece, SIZE * (1.08 if shade == 1 else 1)) + 2 * PADDING
            if x > 10 and x + width > LINE_WIDTH:
                x, y = 10.0, y + LINE_HEIGHT
            elements += _drawn_piece(piece, shade, x, y, width)
            x += width + 3
        y += LINE_HEIGHT + 8
    return Drawing(elements, max(LINE_WIDTH, text_width(title, 13)) + 10, y + 4)


def _title(entry: Mapping[str, Any]) -> str:
    names = f"{entry['system']}, seed {entry['seed']}, {entry['dataset']}, {entry['split']}, scale {entry['scale']}"
    return f"{names}: {entry['chosen']}"


def _drawn_piece(piece: str, shade: float, x: float, y: float, width: float) -> list[str]:
    background, colour = piece_colours(shade)
    return [
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{LINE_HEIGHT - 3}" rx="3" fill="{background}"/>',
        svg_text(x + width / 2, y + 14, piece, size=SIZE, anchor="middle", bold=shade == 1, fill=colour),
    ]
