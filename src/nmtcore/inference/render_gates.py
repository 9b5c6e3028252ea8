"""Gate norms as coloured text: for the terminal, and as an HTML page that needs no other file.

The darker a subword, the larger is the norm of the gate with which it is predicted, compared with the other subwords of
its sentence; the largest is bold.
"""

from collections.abc import Iterable
from html import escape

import numpy as np

from nmtcore.inference.gate_files import GatedSentence

TERMINAL_COLOURS = (231, 189, 147, 105, 63, 61, 19, 17)
"""Backgrounds from white to dark blue, among the 256 colours of terminals."""
FIRST_DARK_COLOUR = 4
"""The index of the first background on which white text is easier to read than black text."""

LIGHT, DARK = (255, 255, 255), (10, 20, 110)
"""Red, green and blue of the smallest and the largest norm in HTML."""
WHITE_TEXT_FROM = 0.6
"""The shade from which white text is easier to read on the background than black text."""


def shades(norms_T: np.ndarray) -> np.ndarray:
    """Scale the norms of a sentence to [0, 1]; all are 1 if they are equal."""
    if not len(norms_T):
        return norms_T
    lowest, highest = norms_T.min(), norms_T.max()
    return (norms_T - lowest) / (highest - lowest) if highest > lowest else np.ones_like(norms_T)


def terminal_line(sentence: GatedSentence) -> str:
    """Colour the subwords of a target for a terminal of 256 colours."""
    pieces = []
    for piece, shade in zip(sentence.pieces, shades(sentence.norms).tolist(), strict=True):
        colour = round(shade * (len(TERMINAL_COLOURS) - 1))
        text = 97 if colour >= FIRST_DARK_COLOUR else 30
        bold = "1;" if shade == 1 else ""
        pieces.append(f"\x1b[{bold}{text};48;5;{TERMINAL_COLOURS[colour]}m{piece}\x1b[0m")
    return " ".join(pieces)


def plain_line(sentence: GatedSentence) -> str:
    """Write every subword of a target with its norm; an asterisk marks the largest."""
    pieces = zip(sentence.pieces, sentence.norms.tolist(), shades(sentence.norms).tolist(), strict=True)
    return " ".join(f"{'*' if shade == 1 else ''}{piece}[{norm:.2f}]" for piece, norm, shade in pieces)


def html_page(sentences: Iterable[GatedSentence], *, system: str, source: str, target: str) -> str:
    """Write a page with each source and its target in colour; `source` and `target` are codes of languages.

    The norm of a subword is shown while the mouse points to it.
    """
    title = f"Gate norms of {escape(system)}, {escape(source)} to {escape(target)}"
    lines = "".join(_html_pair(sentence, source=source, target=target) for sentence in sentences)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 16px/1.9 sans-serif; max-width: 55em; margin: 2em auto; padding: 0 1em; color: #000; background: #fff }}
h1 {{ font-size: 1.2em }}
li {{ margin-bottom: 1em }}
.source {{ color: #555 }}
.target span {{ padding: .15em .25em; border-radius: .2em }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>The darker a subword, the larger is the norm of the gate with which it is predicted, compared with the other subwords
of its sentence; the largest is bold. Point to a subword to see its norm.</p>
<ol>
{lines}</ol>
</body>
</html>
"""


def _html_pair(sentence: GatedSentence, *, source: str, target: str) -> str:
    pieces = zip(sentence.pieces, sentence.norms.tolist(), shades(sentence.norms).tolist(), strict=True)
    spans = " ".join(_html_piece(piece, norm, shade) for piece, norm, shade in pieces)
    return (
        f'<li><div class="source" lang="{escape(source)}" dir="auto">{escape(sentence.source)}</div>\n'
        f'<div class="target" lang="{escape(target)}" dir="auto">{spans}</div></li>\n'
    )


def _html_piece(piece: str, norm: float, shade: float) -> str:
    background = ",".join(str(round(a + shade * (b - a))) for a, b in zip(LIGHT, DARK, strict=True))
    text = "#fff" if shade >= WHITE_TEXT_FROM else "#000"
    bold = ";font-weight:bold" if shade == 1 else ""
    style = f"background:rgb({background});color:{text}{bold}"
    return f'<span title="{norm:.3f}" style="{style}">{escape(piece)}</span>'
