"""Search against enumeration and simple searches, on models given by tables and on real ones without caches."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from inference.searching import TableModel, enumerate_all, simple_beam, simple_greedy
from inference.tiny import RECURRENT, random_examples, random_model

from nmtcore.config.components import DepParseSettings, HeadSelectionSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples
from nmtcore.inference.search import length_limits, search_batch, translate_examples
from nmtcore.model.batch import make_batch
from nmtcore.segmentation.vocabulary import BOS, EOS, PAD, UNK

PENALTIES = st.sampled_from(["gnmt", "fairseq", "none"])
ALPHAS = st.sampled_from([0.0, 0.6, 1.0, 2.0, -0.5])


def lengths(most, *, sentences=5):
    """Draw the fewest tokens of all translations, and a limit for each."""
    return st.integers(0, 3).flatmap(
        lambda least: st.tuples(st.just(least), st.lists(st.integers(least, most), min_size=1, max_size=sentences))
    )


def search(model, limits, settings, **options):
    sentences = range(len(limits))
    return search_batch(model, sentences, settings, limits_B=torch.tensor(limits), **options)


def assert_same(hypotheses, expected):
    assert [h.tokens for h in hypotheses] == [tokens for _, tokens in expected]
    assert [h.score for h in hypotheses] == pytest.approx([score for score, _ in expected], rel=1e-9)


@given(st.integers(0, 10**6), lengths(4, sentences=3), PENALTIES, ALPHAS)
def test_a_beam_wide_enough_finds_the_best_of_all_sequences(seed, least_and_limits, penalty, alpha):
    vocabulary, (least, limits) = 7, least_and_limits
    model = TableModel(sentences=len(limits), vocabulary=vocabulary, seed=seed)
    settings = DecodingSettings(beam=3 ** max(limits) + 1, length_penalty=penalty, alpha=alpha, min_length=least)
    n_best = min(5, settings.beam)
    for n, hypotheses in enumerate(search(model, limits, settings, n_best=n_best)):
        everything = enumerate_all(model.next_token(n), settings, limit=limits[n], vocabulary=vocabulary)
        assert_same(hypotheses, everything[:n_best])


@given(
    st.integers(0, 10**6),
    lengths(9),
    st.integers(2, 6),
    st.integers(6, 14),
    PENALTIES,
    ALPHAS,
    st.data(),
)
def test_batched_search_agrees_with_a_simple_search_per_sentence(
    seed, least_and_limits, beam, vocabulary, penalty, alpha, data
):
    least, limits = least_and_limits
    model = TableModel(sentences=len(limits), vocabulary=vocabulary, seed=seed)
    settings = DecodingSettings(beam=beam, length_penalty=penalty, alpha=alpha, min_length=least)
    n_best = data.draw(st.integers(1, beam))
    for n, hypotheses in enumerate(search(model, limits, settings, n_best=n_best)):
        expected = simple_beam(model.next_token(n), settings, limit=limits[n], vocabulary=vocabulary)
        assert_same(hypotheses, expected[:n_best])


@given(st.integers(0, 10**6), lengths(12), st.integers(6, 14))
def test_beam_1_is_greedy_search(seed, least_and_limits, vocabulary):
    least, limits = least_and_limits
    model = TableModel(sentences=len(limits), vocabulary=vocabulary, seed=seed)
    settings = DecodingSettings(beam=1, min_length=least)
    without_scores = search(model, limits, settings, scores=False)
    for n, (hypothesis,) in enumerate(search(model, limits, settings)):
        next_token = model.next_token(n)
        assert hypothesis.tokens == simple_greedy(next_token, least=least, limit=limits[n], vocabulary=vocabulary)
        total = sum(float(next_token(hypothesis.tokens[:i])[v]) for i, v in enumerate((*hypothesis.tokens, EOS)))
        assert hypothesis.log_probability == pytest.approx(total)
        assert without_scores[n][0].tokens == hypothesis.tokens
        assert math.isnan(without_scores[n][0].score)


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


def test_the_smallest_length_limit_applies():
    two_limits = DecodingSettings(max_length_ratio=1.5, max_length_extra=2, max_length=10)
    assert length_limits(two_limits, [0, 3, 50]) == [2, 6, 10]
    assert length_limits(DecodingSettings(max_length_ratio=None, max_length=7), [0, 3]) == [7, 7]
    at_least_2 = DecodingSettings(min_length=2, max_length_ratio=0.5, max_length_extra=0, max_length=4)
    assert length_limits(at_least_2, [0, 3, 7, 50]) == [2, 2, 3, 4]
    with pytest.raises(ValueError, match="max_length"):
        DecodingSettings(max_length_ratio=None)
    with pytest.raises(ValueError, match=r"min_length \(8\) is above max_length \(7\)"):
        DecodingSettings(min_length=8, max_length=7)


@pytest.mark.parametrize("beam", [1, 4])
def test_an_empty_translation_is_the_best_only_if_it_is_allowed(beam):
    """`</s>` is the likeliest first token, and any translation of two tokens or more is unlikely."""
    word, model = 6, TableModel(sentences=1, vocabulary=7, seed=0)
    model.table[:] = 0.0
    model.table[:, BOS, [EOS, word]] = torch.tensor([5.0, 4.0], dtype=model.table.dtype)
    best = {
        least: search(model, [5], DecodingSettings(beam=beam, min_length=least, alpha=1.0))[0][0].tokens
        for least in (0, 1)
    }
    assert best[0] == ()
    assert best[1][0] == word


def uncached(model, examples, row):
    """Return a function of a prefix to log probabilities of the next token, by a full pass of the decoder."""
    with torch.no_grad():
        context = model.encode(make_batch(examples, np.array([row]), tuple(model.components)))

    @torch.no_grad()
    def next_token(prefix):
        states = model.decode(torch.tensor([[BOS, *prefix]]), context)
        return model.logits(states[0, -1], context).log_softmax(dim=0)

    return next_token


SYSTEMS = {
    "plain": ([], {}),
    "depparse": ([DepParseSettings(layer=0)], {}),
    "nmt": ([], RECURRENT),
    "shared": ([HeadSelectionSettings()], RECURRENT),
    "separate": ([HeadSelectionSettings(annotations="separate")], RECURRENT),
    "one set": ([HeadSelectionSettings(annotations="one_set")], RECURRENT),
}


@pytest.mark.parametrize("beam", [1, 2, 4])
@pytest.mark.parametrize("system", SYSTEMS)
def test_caches_and_batches_do_not_change_results(beam, system):
    components, values = SYSTEMS[system]
    model, examples = random_model(*components, **values), random_examples(5)
    settings = DecodingSettings(beam=beam, min_length=2, max_length_ratio=1.0, max_length_extra=2)
    limits = length_limits(settings, examples.source.ids.lengths.tolist())
    for row, hypotheses in enumerate(translate_examples(model, examples, settings, n_best=beam)):
        next_token, options = uncached(model, examples, row), {"limit": limits[row], "vocabulary": 17}
        if beam == 1:
            assert hypotheses[0].tokens == simple_greedy(next_token, least=2, **options)
        else:
            assert_same(hypotheses, simple_beam(next_token, settings, **options))


@pytest.mark.parametrize("beam", [1, 3])
def test_threads_do_not_change_results_and_are_restored(beam):
    model, examples = random_model(DepParseSettings(layer=0)).float(), random_examples(60, longest=12)
    settings, before = DecodingSettings(beam=beam, batch_sentences=4), torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = translate_examples(model, examples, settings)
        torch.set_num_threads(3)
        assert translate_examples(model, examples, settings) == alone
        assert torch.get_num_threads() == 3
        with pytest.raises(UserError, match="use a wider beam"):
            translate_examples(model, examples, settings, n_best=9)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_a_model_can_be_trained_after_translating():
    model, examples = random_model(), random_examples(4)
    model.train()
    translate_examples(model, examples, DecodingSettings(beam=2))
    assert model.training
    pairs = Examples(id=examples.id, source=examples.source, target=examples.source)
    model.loss(make_batch(pairs, np.arange(4))).parts[0].sum.backward()
    assert torch.isfinite(model.target_embedding.weight.grad).all()
