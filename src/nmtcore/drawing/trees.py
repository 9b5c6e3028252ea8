"""Dependency trees as SVG: the words in a line, and an arc above them from each head to its dependent."""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from nmtcore.drawing.svg import Drawing, arranged, svg_text, text_width
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


def tree_drawing(tree: DrawnTree, *, widths: Sequence[float] | None = None) -> Drawing:
    """Draw a tree: a title, the arcs, and the words; `widths` are the columns of the words, `column_widths` if None."""
    ignored, labels = (values or [None] * len(tree.words) for values in (tree.ignored, tree.labels))
    # A word that is its own head has no arc.
    arcs = [(head - 1, word) for word, head in enumerate(tree.heads) if head not in (HEAD_OF_ROOT, word + 1)]
    arcs = [(head, word) for head, word in arcs if not (ignored[head] or ignored[word])]
    levels = arc_levels(arcs)
    centres, width = word_centres(column_widths(tree) if widths is None else widths)
    top = MARGIN + (WORD_SIZE if tree.title else 0)
    base = top + STEP * max(levels, default=1) + LABEL_SIZE + 4
    elements = [svg_text(MARGIN, top, tree.title, size=11, bold=True)] if tree.title else []
    elements += [
        svg_text(centre, base + WORD_SIZE + 4, word, size=WORD_SIZE, anchor="middle")
        for centre, word in zip(centres, tree.words, strict=True)
    ]
    for (head, word), level in zip(arcs, levels, strict=True):
        # Half an ellipse from the head to the dependent, which has the arrow.
        end, height = centres[word], level * STEP
        start = centres[head] + (5 if end > centres[head] else -5)
        line = f"A{abs(end - start) / 2:.1f} {height:.1f} 0 0 {int(end > start)} {end:.1f} {base:.1f}"
        place = (start + end) / 2, base - height - 3
        elements += _edge(f'd="M{start:.1f} {base:.1f}{line}"', (end, base), place, labels[word], tree.colour(word))
    for word, head in enumerate(tree.heads if tree.roots else ()):
        if head == HEAD_OF_ROOT and not ignored[word]:
            x, high = centres[word], top + LABEL_SIZE
            line = f'stroke-dasharray="3,2" d="M{x:.1f} {base:.1f}V{high:.1f}"'
            elements += _edge(line, (x, base), (x, high - 3), labels[word] or "root", tree.colour(word))
    return Drawing(elements, max(width, text_width(tree.title, 12) + 2 * MARGIN), base + WORD_SIZE + 4 + MARGIN)


def _edge(line: str, end: tuple[float, float], place: tuple[float, float], label: str | None, colour: str) -> list[str]:
    """Draw a line with an arrow at its end, and its label at a place."""
    arrow = f"M{end[0] - 3:.1f} {end[1] - 5:.1f}h6l-3 6z"
    elements = [f'<path fill="none" stroke="{colour}" {line}/>', f'<path fill="{colour}" d="{arrow}"/>']
    return [*elements, *[svg_text(*place, label or "", size=LABEL_SIZE, anchor="middle", fill=colour)] * bool(label)]


def trees_drawing(trees: Sequence[DrawnTree]) -> Drawing:
    """Draw trees of one sentence below one another, each word below itself."""
    widths = [max(columns) for columns in zip(*map(column_widths, trees), strict=True)]
    return arranged([tree_drawing(tree, widths=widths) for tree in trees])


def arc_levels(arcs: Sequence[tuple[int, int]]) -> list[int]:
    """Return the height of each arc (two words, in any order): 1, or 1 more than the highest arc that it spans.

    Arcs that cross each other, or have the same words, can have the same height.
    """
    levels = [0] * len(arcs)
    spans = [(min(arc), max(arc)) for arc in arcs]
    for i in sorted(range(len(arcs)), key=lambda i: spans[i][1] - spans[i][0]):
        low, high = spans[i]
        inner = [levels[j] for j, span in enumerate(spans) if span != spans[i] and low <= span[0] and span[1] <= high]
        levels[i] = 1 + max(inner, default=0)
    return levels


def column_widths(tree: DrawnTree) -> list[float]:
    """Return the space that each word needs, for itself and its label, in pixels."""
    labels = tree.labels or [""] * len(tree.words)
    return [
        max(text_width(word, WORD_SIZE), text_width(label or "", LABEL_SIZE)) + GAP
        for word, label in zip(tree.words, labels, strict=True)
    ]


def word_centres(widths: Sequence[float]) -> tuple[list[float], float]:
    """Place the words in a line: return the x of their middles, and the width of the whole."""
    ends = list(accumulate(widths, initial=MARGIN))
    return [end - width / 2 for end, width in zip(ends[1:], widths, strict=True)], ends[-1] + MARGIN
