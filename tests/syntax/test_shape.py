"""Depth, roots and projectivity of trees."""

import numpy as np
import pytest
from forests import climb, flat, forests
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.syntax.annotation import tree_fault
from nmtcore.syntax.shape import forest_shape, word_depths


def is_projective(heads):
    """Return whether all words between a word and its head are below that head (the artificial root is above all)."""
    return all(
        head in climb(heads, between)
        for word, head in enumerate(heads, start=1)
        for between in range(min(word, head) + 1, max(word, head))
    )


@given(st.lists(forests() | st.just([]), max_size=6))
def test_shapes_equal_those_found_by_climbing(trees):
    assert all(tree_fault(heads) is None for heads in trees if heads)
    heads, lengths = flat(trees)
    shape = forest_shape(heads, lengths)
    assert shape.roots_B.tolist() == [heads.count(0) for heads in trees]
    deepest = [max((len(climb(h, w)) - 1 for w in range(1, len(h) + 1)), default=0) for h in trees]
    assert shape.depth_B.tolist() == deepest
    assert shape.projective_B.tolist() == [is_projective(heads) for heads in trees]


@given(st.lists(forests() | st.just([]), max_size=6))
def test_depths_equal_those_found_by_climbing(trees):
    depths = [len(climb(heads, word)) - 1 for heads in trees for word in range(1, len(heads) + 1)]
    assert word_depths(*flat(trees)).tolist() == depths


def test_depths_in_a_chain_of_a_thousand_words():
    depths = word_depths(np.arange(1000), np.array([1000]))
    assert depths.tolist() == list(range(1, 1001))


@pytest.mark.parametrize("measure", [forest_shape, word_depths])
@pytest.mark.parametrize("heads", [[2, 1, 0], [0, 3, 2], [0, 4, 1], [0, -1, 1], [0, 2, 1], [0, 1], [0, 1, 1, 1]])
def test_heads_that_form_no_forest_are_an_error(measure, heads):
    with pytest.raises(ValueError):
        measure(np.array(heads), np.array([3]))
