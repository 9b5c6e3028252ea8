"""Random trees against the enumeration of all trees; random tags against SplitMix64."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.syntax.annotation import tree_fault
from nmtcore.syntax.random_syntax import random_tags, random_trees

BITS = 2**64 - 1


def is_tree(heads):
    return heads.count(0) == 1 and tree_fault(heads) is None


@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_every_tree_with_one_root_is_equally_likely(words):
    trees, draws = [heads for heads in itertools.product(range(words + 1), repeat=words) if is_tree(heads)], 20_000
    assert len(trees) == words ** (words - 1)
    counts = Counter(map(tuple, random_trees(words, draws, np.random.default_rng(5)).tolist()))
    assert counts.keys() == set(trees)
    expected = draws / len(trees)
    chi_square = sum((counts[tree] - expected) ** 2 / expected for tree in trees)
    assert chi_square < 120  # 63 degrees of freedom for four words: p < 0.0001


def step(state):
    """Compute one step of SplitMix64 in Python integers, from its description."""
    z = state = (state + 0x9E3779B97F4A7C15) & BITS
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & BITS
    return z ^ (z >> 31)


def oracle(id, word, *, types, seed, side):
    sentence = step(step(2 * seed + (side == "target")) ^ id)
    return (step((sentence + word * 0x9E3779B97F4A7C15) & BITS) >> 32) * types >> 32


corpora = st.lists(st.tuples(st.integers(0, 2**62), st.integers(0, 6)), max_size=6)


@given(corpora, st.integers(1, 2**31 - 1), st.integers(0, 2**40), st.sampled_from(["source", "target"]))
def test_tags_equal_those_computed_word_by_word(corpus, types, seed, side):
    """So the tags of a sentence do not depend on other sentences either."""
    ids, lengths = (np.array([pair[k] for pair in corpus], np.int64) for k in range(2))
    tags = random_tags(ids, lengths, types=types, seed=seed, side=side)
    assert tags.dtype == np.int64
    assert tags.tolist() == [
        oracle(id, word, types=types, seed=seed, side=side) for id, length in corpus for word in range(length)
    ]
    assert all(0 <= tag < types for tag in tags)
