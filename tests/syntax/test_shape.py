import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.syntax.annotation import tree_fault
from nmtcore.syntax.shape import forest_shape


@st.composite
def forests(draw):
    """Heads of a forest: each word in a shuffled order hangs from an earlier one, or from the root."""
    order = draw(st.permutations(range(1, draw(st.integers(1, 9)) + 1)))
    heads = [0] * len(order)
    for k, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, *order[:k]]))
    return heads


def climb(heads, word):
    path = [word]
    while path[-1]:
        path.append(heads[path[-1] - 1])
    return path


def is_projective(heads):
    """Every word between a word and its head is below that head (the artificial root is above all)."""
    return all(
        head in climb(heads, between)
        for word, head in enumerate(heads, start=1)
        for between in range(min(word, head) + 1, max(word, head))
    )


@given(st.lists(forests() | st.just([]), max_size=6))
def test_shape_by_climbing(trees):
    assert all(tree_fault(heads) is None for heads in trees if heads)
    shape = forest_shape(np.array([h for t in trees for h in t], int), np.array([len(t) for t in trees], int))
    assert shape.roots.tolist() == [heads.count(0) for heads in trees]
    deepest = [max((len(climb(h, w)) - 1 for w in range(1, len(h) + 1)), default=0) for h in trees]
    assert shape.depth.tolist() == deepest
    assert shape.projective.tolist() == [is_projective(heads) for heads in trees]


@pytest.mark.parametrize("heads", [[2, 1, 0], [0, 3, 2], [0, 4, 1], [0, -1, 1], [0, 2, 1]])
def test_what_is_no_forest(heads):
    with pytest.raises(ValueError):
        forest_shape(np.array(heads), np.array([3]))
