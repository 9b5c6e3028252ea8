"""Search against enumeration and simple searches, on models given by tables and on real ones without caches."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
import torch
from factories import side
from hypothesis import given
from hypothesis import strategies as st
from inference.tiny import RECURRENT, random_examples, random_model
from torch import Tensor

from nmtcore.config.components import DepParseSettings, HeadSelectionSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.inference.search import NEVER_GENERATED, length_limits, search_batch, translate_examples
from nmtcore.model.batch import make_batch
from nmtcore.segmentation.vocabulary import BOS, EOS

NextToken = Callable[[tuple[int, ...]], Tensor]
"""Maps a prefix (without `<s>`) to the log probabilities (V) of the next token."""


class TableState:
    def __init__(self, sentences: Tensor) -> None:
        self.sentences = sentences
        self.prefixes = torch.zeros(len(sentences), 1, 0, dtype=torch.int64)

    def select(self, beams_BM: Tensor, sentences_B: Tensor | None = None) -> None:
        if sentences_B is not None:
            self.sentences, self.prefixes = self.sentences[sentences_B], self.prefixes[sentences_B]
        self.prefixes = torch.stack([rows[beams_M] for rows, beams_M in zip(self.prefixes, beams_BM, strict=True)])


class TableModel:
    """Random logits for every sentence and every prefix; prefixes share logits by a hash."""

    def __init__(self, *, sentences: int, vocabulary: int, seed: int, histories: int = 97, sharpness: float = 2.0):
        generator = torch.Generator().manual_seed(seed)
        size = (sentences, histories, vocabulary)
        self.table = torch.randn(size, generator=generator, dtype=torch.float64) * sharpness

    def start(self, encoded: Sequence[int]) -> TableState:
        return TableState(torch.tensor(encoded))

    def step(self, tokens_Z: Tensor, state: TableState) -> Tensor:
        sentences = len(state.sentences)
        state.prefixes = torch.cat([state.prefixes, tokens_Z.view(sentences, -1, 1)], dim=2)
        weights = 3 ** torch.arange(state.prefixes.shape[2]) % 1009
        histories = (state.prefixes * weights).sum(dim=2) % self.table.shape[1]
        return self.table[state.sentences[:, None], histories].flatten(0, 1)

    def next_token(self, sentence: int) -> NextToken:
        @cache
        def log_probabilities(prefix: tuple[int, ...]) -> Tensor:
            state = self.start([sentence])
            for token in (BOS, *prefix):
                logits = self.step(torch.tensor([token]), state)
            return logits[0].log_softmax(dim=0)

        return log_probabilities


def penalty(settings: DecodingSettings, n: int) -> float:
    """The length penalty of n tokens, `</s>` included."""
    if settings.length_penalty == "gnmt":
        return ((5 + n) / 6) ** settings.alpha
    return n**settings.alpha if settings.length_penalty == "fairseq" else 1.0


def words_of(vocabulary: int) -> list[int]:
    return [token for token in range(vocabulary) if token not in NEVER_GENERATED and token != EOS]


Ranking = list[tuple[float, tuple[int, ...]]]
"""Scores and tokens, best first."""


def enumerate_all(next_token: NextToken, settings: DecodingSettings, *, limit: int, vocabulary: int) -> Ranking:
    """Score every sequence of at least `settings.min_length` and at most `limit` tokens."""
    scored = []
    for length in range(settings.min_length, limit + 1):
        for tokens in product(words_of(vocabulary), repeat=length):
            total = sum(float(next_token(tokens[:i])[token]) for i, token in enumerate((*tokens, EOS)))
            scored.append((total / penalty(settings, length + 1), tokens))
    return sorted(scored, reverse=True)


def simple_beam(next_token: NextToken, settings: DecodingSettings, *, limit: int, vocabulary: int) -> Ranking:
    """Search one sentence up to its limit, without ending early."""
    live, finished = [(0.0, ())], []
    for length in range(limit + 1):
        words, end = words_of(vocabulary) * (length < limit), [EOS] * (length >= settings.min_length)
        allowed = [*words, *end]
        extended = []
        for total, tokens in live:
            after = next_token(tokens)
            extended += [(total + float(after[token]), tokens, token) for token in allowed]
        best = sorted(extended, reverse=True)[: 2 * settings.beam]
        finished += [(total / penalty(settings, length + 1), tokens) for total, tokens, token in best if token == EOS]
        live = [(total, (*tokens, token)) for total, tokens, token in best if token != EOS][: settings.beam]
    return sorted(finished, reverse=True)[: settings.beam]


def simple_greedy(next_token: NextToken, *, least: int, limit: int, vocabulary: int) -> tuple[int, ...]:
    """Take the likeliest token until it is `</s>`, after `least` others, or the limit is reached."""
    tokens: tuple[int, ...] = ()
    while len(tokens) < limit:
        after = next_token(tokens)
        allowed = [*words_of(vocabulary), *[EOS] * (len(tokens) >= least)]
        best = max(allowed, key=lambda token: float(after[token]))
        if best == EOS:
            break
        tokens = (*tokens, best)
    return tokens


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
        assert hypothesis.score * penalty(settings, len(hypothesis.tokens) + 1) == pytest.approx(total)
        assert without_scores[n][0].tokens == hypothesis.tokens
        assert math.isnan(without_scores[n][0].score)


@pytest.mark.parametrize(("beam", "scores"), [(1, True), (1, False), (4, True)])
def test_nan_probabilities_are_an_error(beam, scores):
    model = TableModel(sentences=2, vocabulary=9, seed=3)
    model.table[:] = torch.nan
    with pytest.raises(UserError, match="diverged"):
        search(model, [4, 5], DecodingSettings(beam=beam), scores=scores)


def test_the_smallest_length_limit_applies():
    two_limits = DecodingSettings(max_length_ratio=1.5, max_length_extra=2, max_length=10)
    assert length_limits(two_limits, [0, 3, 50]) == [2, 6, 10]
    assert length_limits(DecodingSettings(max_length_ratio=None, max_length=7), [0, 3]) == [7, 7]
    at_least_2 = DecodingSettings(min_length=2, max_length_ratio=0.5, max_length_extra=0, max_length=4)
    assert length_limits(at_least_2, [0, 3, 7, 50]) == [2, 2, 3, 4]


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


@pytest.mark.parametrize("system", SYSTEMS)
def test_empty_sources_are_trained_on(system):
    """None is translated (`features.sources`)."""
    components, values = SYSTEMS[system]
    model, sources = random_model(*components, **values).train(), random_examples(9, seed=3, longest=4)
    examples = replace(sources, target=side([[5, 6, 7][: i % 4] for i in range(9)]))
    empty = np.flatnonzero(sources.source.ids.lengths == 0)
    assert 0 < len(empty) < 9
    for rows in (np.arange(9), empty):
        model.zero_grad()
        losses = model.loss(make_batch(examples, rows, tuple(model.components)), label_smoothing=0.1)
        losses.objective().backward()
        gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        assert all(torch.isfinite(gradient).all() for gradient in gradients)
        assert torch.isfinite(losses.nll_sum)
