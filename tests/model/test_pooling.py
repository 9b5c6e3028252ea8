"""Tests of pooling subwords into words, against equation 24 as written: collapsing one word at a time."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.features.examples import NO_WORD
from nmtcore.model.batch import pool_words


def collapse(scores, start, stop):
    """Compute equation 24: subwords start to stop-1 become one row and one column."""
    size = len(scores) - (stop - start) + 1

    def old(i):
        return range(start, stop) if i == start else [i if i < start else i + (stop - start) - 1]

    collapsed = np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            for subword_i in old(i):
                for subword_j in old(j):
                    collapsed[i, j] += scores[subword_i, subword_j]
    return collapsed


def by_hand(scores, subword_counts):
    for word, count in enumerate(subword_counts):
        scores = collapse(scores, word, word + count)
    return scores


sentences = st.lists(st.lists(st.integers(1, 4), max_size=6), min_size=1, max_size=4)


@given(sentences, st.integers(0, 2), st.integers(0, 1000))
def test_pooled_scores_of_a_batch_equal_the_equation(subword_counts, before, seed):
    random = np.random.default_rng(seed)
    longest = before + max(sum(counts) for counts in subword_counts) + 2
    words = np.full((len(subword_counts), longest), NO_WORD)
    scores = np.full((len(subword_counts), 3, longest, longest), -np.inf)
    for row, counts in enumerate(subword_counts):
        stop = before + sum(counts)
        words[row, before:stop] = np.repeat(np.arange(len(counts)), counts)
        scores[row, :, before:stop, before:stop] = random.normal(size=(3, stop - before, stop - before))
    count = max(len(counts) for counts in subword_counts)
    pooled = pool_words(torch.from_numpy(scores), torch.from_numpy(words), count=count)
    assert pooled.shape == (len(subword_counts), 3, count, count)
    for row, counts in enumerate(subword_counts):
        inside = slice(before, before + sum(counts))
        for head in range(3):
            expected = np.zeros((count, count))
            expected[: len(counts), : len(counts)] = by_hand(scores[row, head, inside, inside], counts)
            np.testing.assert_allclose(pooled[row, head], expected, atol=1e-12)


@pytest.mark.parametrize(("input_dtype", "dtype"), [(torch.bfloat16, torch.float32), (torch.float64, torch.float64)])
def test_large_sums_are_exact(input_dtype, dtype):
    pooled = pool_words(torch.ones(1, 300, 300, dtype=input_dtype), torch.zeros(1, 300, dtype=torch.long), count=1)
    assert pooled.dtype == dtype
    assert pooled.item() == 90_000
