"""Entries that are added to the vocabulary on a GPU change neither losses nor gradients; here they are on a CPU."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from model.output_layers import OVER, assert_same_losses, random_output_layer

from nmtcore.model import base
from nmtcore.model.added_entries import add_entries, added_entries
from nmtcore.model.batch import make_batch
from nmtcore.model.losses import chunked_cross_entropy, smoothed_cross_entropy
from nmtcore.model.proofs import VOCABULARY


def test_on_a_gpu_entries_are_added_up_to_a_multiple_of_64():
    counts = {n: added_entries(n, torch.device("cuda", 1)) for n in (1, 63, 64, 32000, 32003)}
    assert counts == {1: 63, 63: 1, 64: 0, 32000: 0, 32003: 61}
    assert {added_entries(n, torch.device("cpu")) for n in counts} == {0}


def test_added_entries_have_probability_0():
    states, weight = torch.randn(3, 4, dtype=torch.float64), torch.randn(5, 4, dtype=torch.float64)
    probabilities = F.linear(states, *add_entries(weight, None, 2)).softmax(dim=1)
    assert not probabilities[:, 5:].any()
    torch.testing.assert_close(probabilities[:, :5], (states @ weight.T).softmax(dim=1))
    assert add_entries(weight, None, 0) == (weight, None)


@pytest.mark.parametrize("over", OVER)
@given(
    tokens=st.integers(0, 9),
    entries=st.integers(5, 12),
    added=st.integers(1, 9),
    smoothing=st.sampled_from([0.0, 0.1, 0.4]),
    chunk=st.sampled_from([None, 1, 4, 12]),
    biased=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=25, deadline=None)
def test_losses_and_gradients_are_those_without(over, tokens, entries, added, smoothing, chunk, biased, seed):
    states, weight, bias, targets = random_output_layer(tokens, entries, biased=biased, seed=seed)
    options = {"smoothing": smoothing, "over": over}
    plain = smoothed_cross_entropy(F.linear(states, weight, bias), targets, **options)
    if chunk is None:
        logits = F.linear(states, *add_entries(weight, bias, added))
        other = smoothed_cross_entropy(logits, targets, **options, added=added)
    else:
        other = chunked_cross_entropy(states, weight, bias, targets, **options, chunk=chunk, added=added)
    assert_same_losses(other, plain, [states, weight, *([bias] if biased else [])])


@pytest.mark.parametrize("bf16", [False, True])
@pytest.mark.parametrize("chunk", [None, 3])
@pytest.mark.parametrize("name", ["transformer", "recurrent"])
def test_a_model_has_the_same_losses_and_gradients(name, chunk, bf16, make, draw, monkeypatch):
    model = make(base=name, joint=True).to(torch.float32 if bf16 else torch.float64)
    batch = make_batch(draw(4, seed=3), np.arange(4))
    results = []
    for added in (0, 64 - VOCABULARY):
        monkeypatch.setattr(base, "added_entries", lambda entries, device, added=added: added)
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            losses = model.loss(batch, label_smoothing=0.1, loss_chunk=chunk)
        gradients = torch.autograd.grad(losses.objective(), list(model.parameters()), allow_unused=True)
        results.append([losses.objective(), losses.nll_sum, *gradients])
    # Products of other sizes are rounded otherwise.
    torch.testing.assert_close(*results, **({"rtol": 0.02, "atol": 0.001} if bf16 else {}))
