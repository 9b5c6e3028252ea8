"""Searches against enumeration and simple searches, on models given by tables."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from inference.searching import TableModel, enumerate_all, simple_beam, simple_greedy

from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.inference.search import length_limits, length_penalty, search_batch
from nmtcore.segmentation.vocabulary import BOS, EOS, PAD, UNK

PENALTIES = st.sampled_from(["gnmt", "fairseq", "none"])
ALPHAS = st.sampled_from([0.0, 0.6, 1.0, 2.0, -0.5])


def search(model, limits, settings, **options):
    sentences = range(len(limits))
    return search_batch(model, sentences, settings, limits_B=torch.tensor(limits), **options)


def assert_same(hypotheses, expected):
    assert [h.tokens for h in hypotheses] == [tokens for _, tokens in expected]
    assert [h.score for h in hypotheses] == pytest.approx([score for score, _ in expected], rel=1e-9)


@given(st.integers(0, 10**6), st.lists(st.integers(0, 4), min_size=1, max_size=3), PENALTIES, ALPHAS)
def test_a_beam_wide_enough_finds_the_best_of_all_sequences(seed, limits, penalty, alpha):
    vocabulary = 7
    model = TableModel(sentences=len(limits), vocabulary=vocabulary, seed=seed)
    settings = DecodingSettings(beam=3 ** max(limits) + 1, length_penalty=penalty, alpha=alpha)
    n_best = min(5, settings.beam)
    for n, hypotheses in enumerate(search(model, limits, settings, n_best=n_best)):
        everything = enumerate_all(model.next_token(n), settings, limit=limits[n], vocabulary=vocabulary)
        assert_same(hypotheses, everything[:n_best])


@given(
    st.integers(0, 10**6),
    st.lists(st.integers(0, 9), min_size=1, max_size=5),
    st.integers(2, 6),
    st.integers(6, 14),
    PENALTIES,
    ALPHAS,
    st.data(),
)
def test_batched_search_agrees_with_a_simple_search_per_sentence(seed, limits, beam, vocabulary, penalty, alpha, data):
    model = TableModel(sentences=len(limits), vocabulary=vocabulary, seed=seed)
    settings = DecodingSettings(beam=beam, length_penalty=penalty, alpha=alpha)
    n_best = data.draw(st.integers(1, beam))
    for n, hypotheses in enumerate(search(model, limits, settings, n_best=n_best)):
        expected = simple_beam(model.next_token(n), settings, limit=limits[n], vocabulary=vocabulary)
        assert_same(hypotheses, expected[:n_best])


@given(st.integers(0, 10**6), st.lists(st.integers(0, 12), min_size=1, max_size=5), st.integers(6, 14))
def test_beam_1_is_greedy_search(seed, limits, vocabulary):
    model, settings = TableModel(sentences=len(limits), vocabulary=vocabulary, seed=seed), DecodingSettings(beam=1)
    without_scores = search(model, limits, settings, scores=False)
    for n, (hypothesis,) in enumerate(search(model, limits, settings)):
        next_token = model.next_token(n)
        assert hypothesis.tokens == simple_greedy(next_token, limit=limits[n], vocabulary=vocabulary)
        total = sum(float(next_token(hypothesis.tokens[:i])[v]) for i, v in enumerate((*hypothesis.tokens, EOS)))
        assert hypothesis.log_probability == pytest.approx(total)
        assert without_scores[n][0].tokens == hypothesis.tokens
        assert math.isnan(without_scores[n][0].score)


def test_search_ends_early_when_no_beam_can_improve():
    model = TableModel(sentences=3, vocabulary=12, seed=1, sharpness=0.1)
    model.table[:, :, EOS] = 6.0
    search(model, [500] * 3, DecodingSettings(beam=4))
    assert model.steps < 60


def test_search_goes_on_while_the_penalty_at_the_limit_can_make_a_beam_the_best():
    """Ending at once scores -1; the other beam could score -6 / 2**2 by ending next, but -8.1 / 4**2 at its limit."""
    word, limit = 6, 3
    model = TableModel(sentences=1, vocabulary=7, seed=0)
    model.table[:] = -50.0
    model.table[:, :, [EOS, word]] = 0.0
    # The first step: padding is never generated and takes the rest, so that logits are log probabilities.
    first = {EOS: -1.0, word: -6.0, PAD: math.log(1 - math.exp(-1) - math.exp(-6))}
    for token, logit in first.items():
        model.table[0, BOS, token] = logit
    settings = DecodingSettings(beam=2, length_penalty="fairseq", alpha=2.0)
    (hypotheses,) = search(model, [limit], settings)
    assert_same(hypotheses, simple_beam(model.next_token(0), settings, limit=limit, vocabulary=7)[:1])
    assert hypotheses[0].tokens == (word,) * limit


def test_the_unknown_token_can_be_generated():
    model = TableModel(sentences=1, vocabulary=9, seed=3)
    model.table[:, :, UNK] = 20.0
    assert search(model, [4], DecodingSettings(beam=2))[0][0].tokens == (UNK,) * 4


@pytest.mark.parametrize("scores", [True, False])
@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("logit", [torch.nan, torch.inf])
def test_nan_probabilities_are_an_error(logit, beam, scores):
    model = TableModel(sentences=2, vocabulary=9, seed=3)
    model.table[:] = logit
    with pytest.raises(UserError, match="diverged"):
        search(model, [4, 5], DecodingSettings(beam=beam), scores=scores)


def test_length_penalties_match_the_papers():
    assert length_penalty(DecodingSettings(length_penalty="gnmt", alpha=0.6), 7.0) == pytest.approx(2**0.6)
    assert length_penalty(DecodingSettings(length_penalty="fairseq", alpha=0.5), 9.0) == 3.0
    assert length_penalty(DecodingSettings(length_penalty="none", alpha=0.5), 9.0) == 1.0


def test_the_smallest_length_limit_applies():
    two_limits = DecodingSettings(max_length_ratio=1.5, max_length_extra=2, max_length=10)
    assert length_limits(two_limits, [0, 3, 50]) == [2, 6, 10]
    assert length_limits(DecodingSettings(max_length_ratio=None, max_length=7), [0, 3]) == [7, 7]
    with pytest.raises(ValueError, match="max_length"):
        DecodingSettings(max_length_ratio=None)
