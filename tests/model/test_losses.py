"""Tests of label smoothing against distributions written out entry by entry."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import smoothed_distribution

from nmtcore.model.losses import Losses, Part, aligned, smoothed_cross_entropy

OVER = ["all", "others", "others_but_padding"]


@pytest.mark.parametrize("over", OVER)
@given(
    tokens=st.integers(0, 9),
    entries=st.sampled_from([5, 12, 64, 70]),
    smoothing=st.sampled_from([0.0, 0.1, 0.4]),
    biased=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=25, deadline=None)
def test_loss_and_gradients_equal_those_of_the_written_out_distribution(over, tokens, entries, smoothing, biased, seed):
    torch.manual_seed(seed)
    targets, sizes = torch.randint(1, entries, (tokens,)), [(tokens, 4), (entries, 4), *[(entries,)] * biased]
    states, weight, *biases = inputs = [torch.randn(size, dtype=torch.float64, requires_grad=True) for size in sizes]
    bias = (biases or [None])[0]
    rows = [smoothed_distribution(entries, int(y), smoothing, over) for y in targets]
    q = torch.tensor(np.array(rows).reshape(tokens, entries))
    log = F.linear(states, weight, bias).log_softmax(1)
    expected = -(q * log).sum()
    total, nll = smoothed_cross_entropy(states, weight, bias, targets, smoothing=smoothing, over=over)
    torch.testing.assert_close(total, expected)
    torch.testing.assert_close(nll, -log.detach()[torch.arange(tokens), targets].sum())
    gradients = [torch.autograd.grad(1.7 * loss, inputs, retain_graph=True) for loss in (total, expected)]
    torch.testing.assert_close(*gradients)
    padded, padded_bias = aligned(weight, bias)
    assert len(padded) % 64 == 0
    torch.testing.assert_close(F.linear(states, padded, padded_bias).log_softmax(1)[:, :entries], log)


def loss_of_logits(logits, targets, **options):
    """Compute the loss of logits that are given: those of an output layer that changes nothing."""
    return smoothed_cross_entropy(logits, torch.eye(logits.size(1)).to(logits), None, targets, **options)


@pytest.mark.parametrize("over", OVER)
def test_half_precision_is_summed_in_single_precision(over):
    logits, targets = torch.randn(50, 40).bfloat16().requires_grad_(), torch.randint(1, 40, (50,))
    total, nll = loss_of_logits(logits, targets, smoothing=0.1, over=over)
    exact, _ = loss_of_logits(logits.detach().float(), targets, smoothing=0.1, over=over)
    assert total.dtype == nll.dtype == torch.float32
    torch.testing.assert_close(total.detach(), exact, rtol=1e-5, atol=1e-5)
    total.backward()
    assert logits.grad.dtype == torch.bfloat16


def test_extreme_logits_give_finite_losses_and_gradients():
    logits = torch.tensor([[1e4, -1e4, 0.0, 0.0, 0.0]], requires_grad=True)
    total, nll = loss_of_logits(logits, torch.tensor([1]), smoothing=0.1, over="others")
    total.backward()
    assert nll.item() == 2e4
    assert torch.isfinite(logits.grad).all()


def test_the_objective_sums_weighted_means_also_of_one_token_and_of_none():
    parts = [
        Part(name="translation", sum=torch.tensor(8.0), count=4),
        Part(name="one", sum=torch.tensor(3.0), count=1, weight=0.5),
        Part(name="none", sum=torch.tensor(0.0), count=0),
    ]
    losses = Losses(parts=tuple(parts), nll_sum=torch.tensor(8.0))
    assert losses.objective().item() == 8 / 4 + 0.5 * 3 / 1
    assert losses.objective({"translation": 16, "one": 2, "none": 1}).item() == 8 / 16 + 0.5 * 3 / 2
