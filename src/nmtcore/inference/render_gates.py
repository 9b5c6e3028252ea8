"""Gate norms as coloured text for the terminal, and the shades in which they are drawn.

The darker a subword, the larger is the norm of the gate with which it is predicted, compared with the other subwords of
its sentence; the largest is bold.
"""

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
