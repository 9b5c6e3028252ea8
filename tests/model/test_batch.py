"""Tests of batches against lists written out by hand, and of pooling against equation 24, one word at a time."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from factories import target_mask
from hypothesis import given, settings
from hypothesis import strategies as st

from nmtcore.config.components import DepParseSettings
from nmtcore.features.examples import NO_WORD
from nmtcore.model.batch import make_batch, pool_words


@given(seed=st.integers(0, 1000), rows=st.lists(st.integers(0, 5), min_size=1, max_size=6), prefixed=st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_batch_is_its_rows_padded_on_the_right(make, draw, seed, rows, prefixed):
    examples = draw(6, seed=seed)
    components = make(DepParseSettings(layer=0), language_code=9).components if prefixed else ()
    batch = make_batch(examples, np.array(rows), components)
    sources = [[4, 9] * prefixed + examples.source.ids[r].tolist() + [3] for r in rows]
    targets = [examples.target.ids[r].tolist() for r in rows]
    words = [[NO_WORD] * 2 * prefixed + examples.source.word_of_subword[r].tolist() + [NO_WORD] for r in rows]
    assert batch.source_words_BS.tolist() == [w + [NO_WORD] * (batch.source_BS.size(1) - len(w)) for w in words]
    assert batch.source_lengths_B.tolist() == [len(s) for s in sources]
    assert batch.ids_B.tolist() == rows
    _check_ids_and_mask(batch.source_BS, batch.source_mask_BS, sources)
    _check_ids_and_mask(batch.target_input_BT, target_mask(batch), [[2, *t] for t in targets])
    _check_ids_and_mask(batch.target_output_BT, target_mask(batch), [[*t, 3] for t in targets])
    assert batch.tokens == batch.counts["translation"] == sum(len(t) + 1 for t in targets)
    real = batch.target_output_BT.flatten()[batch.target_positions_N]
    assert real.tolist() == [i for t in targets for i in [*t, 3]]


def _check_ids_and_mask(ids, mask, expected):
    width = max(map(len, expected))
    assert ids.dtype == torch.int64
    assert ids.tolist() == [row + [0] * (width - len(row)) for row in expected]
    assert mask.tolist() == [[True] * len(row) + [False] * (width - len(row)) for row in expected]


def test_a_batch_has_losses_and_counts_only_for_the_requested_terms(make, draw):
    model, examples = make(DepParseSettings(layer=0)), draw(6, seed=1)
    whole = model.loss(make_batch(examples, np.arange(6), model.components))
    assert model.parser_terms == {"depparse"}
    for number, name in enumerate(("translation", "depparse")):
        batch = make_batch(examples, np.arange(6), model.components, terms=frozenset([name]))
        assert set(batch.counts) == {name}
        (part,) = model.loss(batch).parts
        assert (part.name, part.count) == (name, whole.parts[number].count)
        torch.testing.assert_close(part.sum, whole.parts[number].sum)
    # Without targets there is no translation loss.
    losses = model.loss(make_batch(replace(examples, target=None), np.arange(6), model.components))
    assert [part.name for part in losses.parts] == ["depparse"]
    torch.testing.assert_close(losses.parts[0].sum, whole.parts[1].sum)
    assert losses.nll_sum.item() == 0


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
    expected = np.zeros(pooled.shape)
    for row, words_S in enumerate(words):
        for i, j in np.argwhere((words_S[:, None] != NO_WORD) & (words_S != NO_WORD)):
            expected[row, :, words_S[i], words_S[j]] += scores[row, :, i, j]
    np.testing.assert_allclose(pooled, expected, atol=1e-12)


@pytest.mark.parametrize(("input_dtype", "dtype"), [(torch.bfloat16, torch.float32), (torch.float64, torch.float64)])
def test_large_sums_are_exact(input_dtype, dtype):
    pooled = pool_words(torch.ones(1, 300, 300, dtype=input_dtype), torch.zeros(1, 300, dtype=torch.long), count=1)
    assert pooled.dtype == dtype
    assert pooled.item() == 90_000
