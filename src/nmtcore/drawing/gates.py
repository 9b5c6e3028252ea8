"""Subwords of translations as HTML, coloured by their gate norms, on one scale for all sentences."""

from collections.abc import Iterable
from html import escape

from nmtcore.inference.schemas import GatedSentence

BLACK_IN_DARK, BLACK_IN_LIGHT = 47, 66
"""Percent of the scale up to which white text is the easier one to read on a dark page, and black text on a light one:
there, their contrast with the colour between the lowest and the highest is the same."""

GATES_STYLE = """\
:root { --gate-low: #fff; --gate-high: #08306b; --gate-weak: #000; --gate-strong: #fff }
@media (prefers-color-scheme: dark) {
  :root { --gate-low: #101317; --gate-high: #d6e6ff; --gate-weak: #fff; --gate-strong: #000 } }
@media print { :root { --gate-low: #fff; --gate-high: #08306b; --gate-weak: #000; --gate-strong: #fff } }
.gates { line-height: 1.9; overflow-wrap: anywhere }
.gates span { background: color-mix(in srgb, var(--gate-high) var(--share), var(--gate-low)); border-radius: .2em;
  color: var(--gate-weak); padding: .15em .25em; print-color-adjust: exact }
.gates .middle { color: #000 }
.gates .strong { color: var(--gate-strong) }
"""
"""The style of `gated_pieces` in an element of the class `gates`."""


def gates_range(sentences: Iterable[GatedSentence]) -> tuple[float, float]:
    """Return the lowest and the highest norm of some sentences; 0 and 0 if there is none."""
    norms = [norm for sentence in sentences for norm in sentence.norms.tolist()]
    return min(norms, default=0.0), max(norms, default=0.0)


def gated_pieces(sentence: GatedSentence, low: float, high: float) -> str:
    """Write the subwords of a target as HTML, each on a background between `low` and `high`; the largest is bold."""
    norms = sentence.norms.tolist()
    pieces = zip(sentence.pieces, norms, strict=True)
    return " ".join(_html_piece(piece, norm, gate_share(norm, low, high), norm == max(norms)) for piece, norm in pieces)


def gate_share(norm: float, low: float, high: float) -> int:
    """Return the place of a norm between two others in percent; 100 if these are equal."""
    return round(100 * (norm - low) / (high - low)) if high > low else 100


def _html_piece(piece: str, norm: float, share: int, is_largest: bool) -> str:
    name = "strong" if share > BLACK_IN_LIGHT else "middle" if share > BLACK_IN_DARK else ""
    bold = ";font-weight:bold" if is_largest else ""
    return f'<span class="{name}" title="{norm:.3f}" style="--share:{share}%{bold}">{escape(piece)}</span>'
