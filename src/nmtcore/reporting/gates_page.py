"""Gate norms of translations as an HTML page that needs no other file."""

from collections.abc import Iterable
from html import escape

from nmtcore.inference.schemas import GatedSentence, shades
from nmtcore.reporting.html_document import html_document

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

_STYLE = "body { max-width: 55em } li { margin-bottom: 1em }\n"


def gates_page(sentences: Iterable[GatedSentence], *, system: str, source: str, target: str) -> str:
    """Write a page with each source and its target in colour; `source` and `target` are codes of languages.

    The norm of a subword is shown while the mouse points to it.
    """
    title = f"Gate norms of {system}, {source} to {target}"
    lines = "".join(_html_pair(sentence, source=source, target=target) for sentence in sentences)
    body = f"""<h1>{escape(title)}</h1>
<p>The darker a subword, the larger is the norm of the gate with which it is predicted, compared with the other subwords
of its sentence; the largest is bold. Point to a subword to see its norm.</p>
<ol>
{lines}</ol>
"""
    return html_document(title, body, style=GATES_STYLE + _STYLE)


def _html_pair(sentence: GatedSentence, *, source: str, target: str) -> str:
    return (
        f'<li><div class="source muted" lang="{escape(source)}" dir="auto">{escape(sentence.source)}</div>\n'
        f'<div class="gates" lang="{escape(target)}" dir="auto">{gated_pieces(sentence)}</div></li>\n'
    )


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
