"""Subwords of translations as HTML, coloured by their gate norms."""

from html import escape

from nmtcore.inference.schemas import GatedSentence, shades

LIGHT, DARK = (255, 255, 255), (10, 20, 110)
"""Red, green and blue of the smallest and the largest norm."""
WHITE_TEXT_FROM = 0.6
"""The shade from which white text is easier to read on the background than black text."""

GATES_STYLE = """\
.gates { line-height: 1.9; overflow-wrap: anywhere }
.gates span { padding: .15em .25em; border-radius: .2em }
@media print { .gates span { print-color-adjust: exact } }
"""
"""The style of `gated_pieces` in an element of the class `gates`."""


def gated_pieces(sentence: GatedSentence) -> str:
    """Write the subwords of a target as HTML, each on a background in the shade of its norm."""
    pieces = zip(sentence.pieces, sentence.norms.tolist(), shades(sentence.norms).tolist(), strict=True)
    return " ".join(_html_piece(piece, norm, shade) for piece, norm, shade in pieces)


def _html_piece(piece: str, norm: float, shade: float) -> str:
    background, text = piece_colours(shade)
    bold = ";font-weight:bold" if shade == 1 else ""
    style = f"background:{background};color:{text}{bold}"
    return f'<span title="{norm:.3f}" style="{style}">{escape(piece)}</span>'


def piece_colours(shade: float) -> tuple[str, str]:
    """Return the colours of the background and the text of a subword in a shade from 0 to 1."""
    background = ",".join(str(round(a + shade * (b - a))) for a, b in zip(LIGHT, DARK, strict=True))
    return f"rgb({background})", "#fff" if shade >= WHITE_TEXT_FROM else "#000"
