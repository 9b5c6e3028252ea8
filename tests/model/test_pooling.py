"""From subwords to words: the sums against equation 24 as it is written, collapsing one word at a time."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.config.components.parser_head import DepParseSettings
from nmtcore.features.examples import NO_WORD
from nmtcore.model.batch import make_batch
from nmtcore.model.components.base import Component
from nmtcore.model.pooling import pool_words, word_of_column


def collapse(scores, start, stop):
    """Equation 24: the pieces start to stop-1 become one row and one column."""
    size = len(scores) - (stop - start) + 1

    def old(i):
        return range(start, stop) if i == start else [i if i < start else i + (stop - start) - 1]

    collapsed = np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            for piece_i in old(i):
                for piece_j in old(j):
                    collapsed[i, j] += scores[piece_i, piece_j]
    return collapsed


def by_hand(scores, pieces):
    for word, count in enumerate(pieces):
        scores = collapse(scores, word, word + count)
    return scores


sentences = st.lists(st.lists(st.integers(1, 4), max_size=6), min_size=1, max_size=4)


@given(sentences, st.integers(0, 2), st.integers(0, 1000))
def test_equals_the_equation_for_every_sentence_of_a_batch(pieces, before, seed):
    random = np.random.default_rng(seed)
    longest = before + max(sum(counts) for counts in pieces) + 2
    words = np.full((len(pieces), longest), NO_WORD)
    scores = random.normal(size=(len(pieces), 3, longest, longest))
    for row, counts in enumerate(pieces):
        stop = before + sum(counts)
        words[row, before:stop] = np.repeat(np.arange(len(counts)), counts)
    count = max(len(counts) for counts in pieces)
    pooled = pool_words(torch.from_numpy(scores), torch.from_numpy(words), count=count)
    assert pooled.shape == (len(pieces), 3, count, count)
    for row, counts in enumerate(pieces):
        inside = slice(before, before + sum(counts))
        for head in range(3):
            wanted = np.zeros((count, count))
            wanted[: len(counts), : len(counts)] = by_hand(scores[row, head, inside, inside], counts)
            np.testing.assert_allclose(pooled[row, head], wanted, atol=1e-12)


def test_what_has_no_word_may_be_infinite():
    scores = torch.full((1, 4, 4), float("-inf"), dtype=torch.float64)
    scores[0, 1:3, 1:3] = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    words = torch.tensor([[NO_WORD, 0, 0, NO_WORD]])
    assert pool_words(scores, words, count=1).tolist() == [[[10.0]]]
    assert pool_words(scores, torch.tensor([[NO_WORD, 0, 1, NO_WORD]]), count=2).tolist() == [[[1.0, 2.0], [3.0, 4.0]]]


@pytest.mark.parametrize(("given_dtype", "dtype"), [(torch.bfloat16, torch.float32), (torch.float64, torch.float64)])
def test_sums_are_exact(given_dtype, dtype):
    pooled = pool_words(torch.ones(1, 300, 300, dtype=given_dtype), torch.zeros(1, 300, dtype=torch.long), count=1)
    assert pooled.dtype == dtype
    assert pooled.item() == 90_000


def test_gradients_go_to_every_piece_of_a_word():
    scores = torch.randn(2, 3, 3, dtype=torch.float64, requires_grad=True)
    words = torch.tensor([[0, 0, NO_WORD], [0, 1, 1]])
    torch.autograd.gradcheck(lambda x: pool_words(x, words, count=2), scores)


@pytest.mark.parametrize("prefix", [0, 1])
def test_words_of_columns(make, draw, prefix):
    class Notes(Component):
        def add_to_batch(self, arrays, examples):
            arrays.extra["words"] = word_of_column(arrays)

    model, examples = (
        make(*[DepParseSettings(layer=0)] * prefix, extra_components=(Notes(name="notes"),)),
        draw(4, seed=1),
    )
    words = make_batch(examples, np.arange(4), model.components).extra["words"]
    for row in range(4):
        own = [NO_WORD] * prefix + examples.source.word_of_subword[row].tolist()
        assert words[row].tolist() == own + [NO_WORD] * (words.size(1) - len(own))
