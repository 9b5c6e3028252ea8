"""Trees as SVG."""

import itertools
import re

import pytest

from nmtcore.drawing.trees import OTHER, DrawnTree, arc_levels, tree_drawing, trees_drawing

TREE = DrawnTree("gold", ["I", "see", "it", "."], [2, 0, 2, 2], ["nsubj", "root", "obj", "punct"])


def plain_level(arcs, arc):
    """1, or 1 more than the highest arc below; by recursion."""
    low, high = sorted(arc)
    below = [other for other in arcs if sorted(other) != [low, high] and low <= min(other) and max(other) <= high]
    return 1 + max((plain_level(arcs, other) for other in below), default=0)


def test_levels_are_those_of_the_recursion():
    for heads in itertools.product(range(5), repeat=5):
        arcs = [(head, word) for word, head in enumerate(heads) if head != word]
        assert arc_levels(arcs) == [plain_level(arcs, arc) for arc in arcs]
    assert arc_levels([]) == []


def arcs_of(drawing):
    return [element for element in drawing.elements if re.search(r'd="M[\d.]+ [\d.]+A', element)]


def roots_of(drawing):
    return [element for element in drawing.elements if "stroke-dasharray" in element]


@pytest.mark.parametrize(
    ("changes", "arcs", "roots"),
    [
        ({}, 3, 1),
        ({"roots": False}, 3, 0),
        ({"ignored": [False, False, False, True]}, 2, 1),
        ({"ignored": [False, True, False, False]}, 0, 0),
        ({"heads": [1, 0, 0, 4]}, 0, 2),
        ({"heads": [2, 3, 4, 0], "labels": None}, 3, 1),
    ],
)
def test_arcs_are_drawn_between_words(changes, arcs, roots):
    drawing = tree_drawing(TREE._replace(**changes))
    assert (len(arcs_of(drawing)), len(roots_of(drawing))) == (arcs, roots)
    labels = re.findall(r">(nsubj|obj|punct|root)</text>", "".join(drawing.elements))
    assert len(labels) == (roots if "labels" in changes else arcs + roots)


def test_arcs_that_another_tree_lacks_have_a_colour():
    other = TREE._replace(heads=[2, 0, 1, 2], compared=TREE.heads, labels=None)
    coloured = [element for element in tree_drawing(other).elements if OTHER in element]
    assert len(coloured) == 2, "an arc and its arrow"
    assert not any(OTHER in element for element in tree_drawing(TREE._replace(compared=TREE.heads)).elements)


def test_everything_is_inside_the_box():
    tree = TREE._replace(words=["a"] * 12, heads=[0, *range(1, 12)], labels=None)
    for drawing in (tree_drawing(tree), tree_drawing(tree._replace(heads=[12, *[1] * 10, 0]))):
        for x, y in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"', "".join(drawing.elements)):
            assert 0 <= float(x) <= drawing.width
            assert 0 <= float(y) <= drawing.height
        assert "M-" not in "".join(drawing.elements)


def test_the_words_of_trees_are_below_each_other():
    drawing = "".join(trees_drawing([TREE, TREE._replace(title="<mine>", labels=None)]).elements)
    for word in TREE.words:
        assert len(re.findall(f">{re.escape(word)}</text>", drawing)) == 2
        assert len(set(re.findall(f'<text x="([^"]*)"[^>]*>{re.escape(word)}</text>', drawing))) == 1
    assert "&lt;mine&gt;" in drawing
