"""Dependency trees as SVG: the words in a line, and an arc above them from each head to its dependent."""

from collections.abc import Sequence
from typing import NamedTuple

from nmtcore.reporting.svg import Drawing, svg_text, text_width
from nmtcore.syntax.trees import HEAD_OF_ROOT

WORD_SIZE, LABEL_SIZE = 15, 10
GAP = 14
"""Space between two words, in pixels."""
STEP = 22
"""Height of an arc above the arcs that it spans, in pixels."""
MARGIN = 10
OTHER = "#d55e00"
"""The colour of arcs that are not those of the tree that another one is compared with."""


class DrawnTree(NamedTuple):
    """A tree to draw, with one entry per word in each list."""

    title: str
    """Empty for a tree without a title."""
    words: Sequence[str]
    heads: Sequence[int]
    """1-based, 0 = root; they need not form a tree."""
    labels: Sequence[str] | None = None
    """The labels of the arcs."""
    ignored: Sequence[bool] | None = None
    """The words without arcs, such as punctuation."""
    roots: bool = True
    """Whether the roots are marked."""
    compared: Sequence[int] | None = None
    """The heads of another tree of the same words: arcs that it lacks are in another colour."""

    def colour(self, word: int) -> str:
        """Return the colour of the arc to a word."""
        return "currentColor" if self.compared is None or self.compared[word] == self.heads[word] else OTHER


class _Arc(NamedTuple):
    head: int
    dependent: int


def tree_drawing(tree: DrawnTree, *, widths: Sequence[float] | None = None) -> Drawing:
    """Draw a tree: a title, the arcs, and the words; `widths` are the columns of the words, `column_widths` if None."""
    arcs = _arcs(tree)
    levels = arc_levels(arcs)
    centres, width = word_centres(column_widths(tree) if widths is None else widths)
    top = MARGIN + (WORD_SIZE if tree.title else 0)
    base = top + STEP * max(levels, default=1) + LABEL_SIZE + 4
    elements = [svg_text(MARGIN, top, tree.title, size=11, bold=True)] if tree.title else []
    elements += [
        svg_text(centre, base + WORD_SIZE + 4, word, size=WORD_SIZE, anchor="middle")
        for centre, word in zip(centres, tree.words, strict=True)
    ]
    for arc, level in zip(arcs, levels, strict=True):
        label = tree.labels[arc.dependent] if tree.labels else None
        ends = centres[arc.head], centres[arc.dependent]
        elements += _drawn_arc(*ends, base, level * STEP, label, tree.colour(arc.dependent))
    if tree.roots:
        for word, head in enumerate(tree.heads):
            if head == HEAD_OF_ROOT and not _is_ignored(tree, word):
                label = tree.labels[word] if tree.labels and tree.labels[word] else "root"
                elements += _drawn_root(centres[word], base, top + LABEL_SIZE, label, tree.colour(word))
    return Drawing(elements, max(width, text_width(tree.title, 12) + 2 * MARGIN), base + WORD_SIZE + 4 + MARGIN)


def trees_drawing(trees: Sequence[DrawnTree]) -> Drawing:
    """Draw trees of one sentence below one another, each word below itself."""
    widths = [max(columns) for columns in zip(*map(column_widths, trees), strict=True)]
    drawings = [tree_drawing(tree, widths=widths) for tree in trees]
    elements, y = [], 0.0
    for drawing in drawings:
        elements.append(f'<g transform="translate(0 {y:g})">{"".join(drawing.elements)}</g>')
        y += drawing.height
    return Drawing(elements, max(drawing.width for drawing in drawings), y)


def arc_levels(arcs: Sequence[tuple[int, int]]) -> list[int]:
    """Return the height of each arc (two words, in any order): 1, or 1 more than the highest arc that it spans.

    Arcs that cross each other can have the same height.
    """
    levels = [0] * len(arcs)
    spans = [(min(arc), max(arc)) for arc in arcs]
    for i in sorted(range(len(arcs)), key=lambda i: spans[i][1] - spans[i][0]):
        inner = [levels[j] for j, span in enumerate(spans) if j != i and _spans(spans[i], span)]
        levels[i] = 1 + max(inner, default=0)
    return levels


def _spans(outer: tuple[int, int], inner: tuple[int, int]) -> bool:
    """Tell whether an arc lies above another; of two arcs between the same words, neither does."""
    return outer != inner and outer[0] <= inner[0] and inner[1] <= outer[1]


def _is_ignored(tree: DrawnTree, word: int) -> bool:
    return bool(tree.ignored and tree.ignored[word])


def _arcs(tree: DrawnTree) -> list[_Arc]:
    """List the arcs to draw, between words from 0; a word that is its own head has none."""
    arcs = [_Arc(head - 1, word) for word, head in enumerate(tree.heads) if head not in (HEAD_OF_ROOT, word + 1)]
    return [arc for arc in arcs if not (_is_ignored(tree, arc.head) or _is_ignored(tree, arc.dependent))]


def column_widths(tree: DrawnTree) -> list[float]:
    """Return the space that each word needs, for itself and its label, in pixels."""
    labels = tree.labels or [""] * len(tree.words)
    return [
        max(text_width(word, WORD_SIZE), text_width(label or "", LABEL_SIZE)) + GAP
        for word, label in zip(tree.words, labels, strict=True)
    ]


def word_centres(widths: Sequence[float]) -> tuple[list[float], float]:
    """Place the words in a line: return the x of their middles, and the width of the whole."""
    centres, x = [], float(MARGIN)
    for width in widths:
        centres.append(x + width / 2)
        x += width
    return centres, x + MARGIN


def _drawn_arc(
    head_x: float, dependent_x: float, base: float, height: float, label: str | None, colour: str
) -> list[str]:
    """Draw half an ellipse from a head to its dependent, which has the arrow, with the label above it."""
    rightwards = dependent_x > head_x
    start = head_x + (5 if rightwards else -5)
    radius = abs(dependent_x - start) / 2
    arc = f"M{start:.1f} {base:.1f}A{radius:.1f} {height:.1f} 0 0 {int(rightwards)} {dependent_x:.1f} {base:.1f}"
    elements = [f'<path fill="none" stroke="{colour}" d="{arc}"/>', _arrow(dependent_x, base, colour)]
    middle = (start + dependent_x) / 2
    return [*elements, *_label(middle, base - height - 3, label, colour)]


def _drawn_root(x: float, base: float, top: float, label: str, colour: str) -> list[str]:
    """Draw a line from above all arcs to a root."""
    line = f'<path fill="none" stroke="{colour}" stroke-dasharray="3,2" d="M{x:.1f} {base:.1f}V{top:.1f}"/>'
    return [line, _arrow(x, base, colour), *_label(x, top - 3, label, colour)]


def _label(x: float, y: float, label: str | None, colour: str) -> list[str]:
    return [svg_text(x, y, label, size=LABEL_SIZE, anchor="middle", fill=colour)] if label else []


def _arrow(x: float, base: float, colour: str) -> str:
    return f'<path fill="{colour}" d="M{x - 3:.1f} {base - 5:.1f}h6l-3 6z"/>'
