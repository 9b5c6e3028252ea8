"""Random trees, against the enumeration of all trees."""

import itertools
from collections import Counter

import numpy as np
import pytest

from nmtcore.syntax.annotation import tree_fault
from nmtcore.syntax.random_trees import random_trees


def all_trees(words):
    """Enumerate the heads of all trees with one root."""
    return [
        heads
        for heads in itertools.product(range(words + 1), repeat=words)
        if heads.count(0) == 1 and tree_fault(heads) is None
    ]


@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_every_tree_with_one_root_is_equally_likely(words):
    trees, draws = all_trees(words), 20_000
    assert len(trees) == words ** (words - 1)
    counts = Counter(map(tuple, random_trees(words, draws, np.random.default_rng(5)).tolist()))
    assert counts.keys() == set(trees)
    expected = draws / len(trees)
    chi_square = sum((counts[tree] - expected) ** 2 / expected for tree in trees)
    assert chi_square < 120  # 63 degrees of freedom for four words: p < 0.0001


@pytest.mark.parametrize("words", [0, 7, 60])
def test_long_sentences_have_trees_and_empty_ones_have_none(words):
    heads_AW = random_trees(words, 20, np.random.default_rng(1))
    assert heads_AW.shape == (20, words)
    for heads in heads_AW.tolist():
        assert not words or (heads.count(0) == 1 and tree_fault(heads) is None)


def test_the_generator_decides_the_trees():
    first, again, other = (random_trees(9, 3, np.random.default_rng(seed)).tolist() for seed in (1, 1, 2))
    assert first == again != other
