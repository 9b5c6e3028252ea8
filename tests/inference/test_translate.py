"""Translation with the real model, in float64, against decoding without caches."""

import numpy as np
import pytest
import torch
from inference.searching import simple_beam, simple_greedy
from inference.tiny import random_examples, random_model

from nmtcore.config.components.settings import DepParseSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples
from nmtcore.inference.batches import MAX_TOKENS, batches_by_length
from nmtcore.inference.search import length_limits, translate_examples
from nmtcore.model.batch import make_batch
from nmtcore.segmentation.vocabulary import BOS


def uncached(model, examples, row):
    """Return a function of a prefix to log probabilities of the next token, by a full pass of the decoder."""
    with torch.no_grad():
        encoded = model.encode(make_batch(examples, np.array([row]), tuple(model.components)))

    @torch.no_grad()
    def next_token(prefix):
        states = model.decode(torch.tensor([[BOS, *prefix]]), encoded)
        return model.logits(states[0, -1], encoded.context).log_softmax(dim=0)

    return next_token


@pytest.mark.parametrize("beam", [2, 4])
@pytest.mark.parametrize("components", [(), (DepParseSettings(layer=0),)], ids=["plain", "depparse"])
def test_caches_and_batches_do_not_change_results(beam, components):
    model, examples = random_model(*components), random_examples(5)
    settings = DecodingSettings(beam=beam, max_length_ratio=1.0, max_length_extra=2)
    limits = length_limits(settings, examples.source.ids.lengths.tolist())
    for row, hypotheses in enumerate(translate_examples(model, examples, settings, n_best=beam)):
        expected = simple_beam(uncached(model, examples, row), settings, limit=limits[row], vocabulary=17)
        assert [h.tokens for h in hypotheses] == [tokens for _, tokens in expected]
        assert [h.score for h in hypotheses] == pytest.approx([score for score, _ in expected], rel=1e-9)


def test_greedy_search_is_the_argmax_of_the_uncached_model():
    model, examples = random_model(seed=3), random_examples(6, seed=2)
    settings = DecodingSettings(beam=1, max_length_ratio=1.5, max_length_extra=2)
    limits = length_limits(settings, examples.source.ids.lengths.tolist())
    for row, (hypothesis,) in enumerate(translate_examples(model, examples, settings)):
        assert hypothesis.tokens == simple_greedy(uncached(model, examples, row), limit=limits[row], vocabulary=17)


@pytest.mark.parametrize("beam", [1, 4])
def test_batch_size_and_order_do_not_change_results(beam):
    model, examples = random_model(seed=5), random_examples(70, longest=15)
    order = np.random.default_rng(0).permutation(70)

    def translated(rows: np.ndarray, size: int):
        settings = DecodingSettings(beam=beam, batch_sentences=size)
        translations = translate_examples(model, examples.take(rows), settings)
        return {int(row): hypotheses for row, hypotheses in zip(rows, translations, strict=True)}

    alone = translated(np.arange(70), 1)
    for batched in (translated(np.arange(70), 3), translated(np.arange(70), 64), translated(order, 64)):
        for row, (hypothesis,) in batched.items():
            assert hypothesis.tokens == alone[row][0].tokens
            assert hypothesis.score == pytest.approx(alone[row][0].score, rel=1e-9)


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


def test_batches_hold_every_row_once_longest_first_and_within_the_token_limit():
    lengths = np.array([3, MAX_TOKENS * 2, 0, 9000, 9, 4000, 4000, 4000, 4000, 4000])
    batches = batches_by_length(lengths, sentences=3)
    assert sorted(np.concatenate(batches).tolist()) == list(range(10))
    assert [lengths[rows].tolist() for rows in batches] == [
        [MAX_TOKENS * 2], [9000], [4000, 4000, 4000], [4000, 4000, 9], [3, 0],
    ]  # fmt: skip
