"""Tests of one attention layer against double loops."""

import numpy as np
import pytest
import torch
from oracles import multi_head_attention

from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.attention import CrossAttention, SelfAttention, additive_mask, masked_scores, product
from nmtcore.model.components.base import AttentionHooks, Component, Context

SETTINGS = TransformerSettings(width=12, heads=3, feed_forward=8, encoder_layers=1, decoder_layers=1)


class NeedsScores(Component):
    """Makes a layer use the explicit form, without changing its scores."""

    def attention_hooks(self, stack, layer):
        return AttentionHooks(scores=lambda scores, inputs: scores)


each_form = pytest.mark.parametrize(
    ("components", "gradients"),
    [([], True), ([NeedsScores(name="needs_scores")], True), ([NeedsScores(name="needs_scores")], False), ([], False)],
    ids=["fused", "explicit", "explicit without gradients", "mask within the product"],
)


def apply_linear(layer, linear, x):
    return x @ getattr(layer, linear).weight.detach().numpy().T + getattr(layer, linear).bias.detach().numpy()


@each_form
@pytest.mark.parametrize("causal", [False, True])
def test_self_attention_equals_double_loops(components, gradients, causal):
    torch.manual_seed(0)
    layer = SelfAttention(SETTINGS, "encoder", 0, components).double()
    lengths, states = [5, 1, 3], torch.randn(3, 5, 12, dtype=torch.float64)
    mask_BS = torch.arange(5) < torch.tensor(lengths).unsqueeze(1)
    mask_B11K = None if causal else additive_mask(mask_BS, states)
    with torch.set_grad_enabled(gradients):
        output = layer(states, Context(mask_BS=mask_BS), mask_B11K=mask_B11K, causal=causal)
    for i, length in enumerate(lengths):
        packed = np.split(apply_linear(layer, "queries_keys_values", states[i, :length].numpy()), 3, axis=1)
        expected = apply_linear(layer, "output", multi_head_attention(*packed, 3, causal=causal))
        np.testing.assert_allclose(output[i, :length].detach().numpy(), expected, rtol=1e-10, atol=1e-12)


@each_form
@pytest.mark.parametrize("queries", [1, 4])
def test_cross_attention_equals_double_loops(components, gradients, queries):
    torch.manual_seed(0)
    layer = CrossAttention(SETTINGS, "cross", 0, components).double()
    states, memory = torch.randn(2, queries, 12, dtype=torch.float64), torch.randn(2, 6, 12, dtype=torch.float64)
    lengths = [2, 6]
    mask_BS = torch.arange(6) < torch.tensor(lengths).unsqueeze(1)
    with torch.set_grad_enabled(gradients):
        output = layer(
            states, layer.project(memory), Context(mask_BS=mask_BS), mask_B11K=additive_mask(mask_BS, states)
        )
    for i, length in enumerate(lengths):
        keys, values = np.split(apply_linear(layer, "keys_values", memory[i, :length].numpy()), 2, axis=1)
        mixed = multi_head_attention(apply_linear(layer, "queries", states[i].numpy()), keys, values, 3, causal=False)
        np.testing.assert_allclose(
            output[i].detach().numpy(), apply_linear(layer, "output", mixed), rtol=1e-10, atol=1e-12
        )


@pytest.mark.parametrize("sentences", [0, 1])
@pytest.mark.parametrize("queries", [1, 2])
def test_batches_may_be_empty(sentences, queries):
    keys, mask = torch.randn(sentences, 3, 5, 4), torch.zeros(sentences, 1, 1, 5)
    with torch.no_grad():
        assert masked_scores(torch.randn(sentences, 3, queries, 4), keys, mask).shape == (sentences, 3, queries, 5)


@torch.no_grad()
def test_products_equal_those_of_matrices():
    for rows, inner, width in ((1, 4, 9), (1, 9, 4), (1, 40, 40), (2, 4, 4)):
        left, right = torch.randn(3, 2, rows, inner).double(), torch.randn(3, 2, width, inner).double().mT
        torch.testing.assert_close(product(left, right), torch.einsum("bhqk,bhke->bhqe", left, right))


def test_the_explicit_form_applies_dropout_only_in_training():
    torch.manual_seed(0)
    settings = TransformerSettings(width=12, heads=3, attention_dropout=0.5)
    layer = SelfAttention(settings, "encoder", 0, [NeedsScores(name="needs_scores")])
    states, context = torch.randn(1, 4, 12), Context(mask_BS=torch.ones(1, 4, dtype=torch.bool))
    assert not torch.equal(layer(states, context, mask_B11K=None), layer(states, context, mask_B11K=None))
    layer.eval()
    assert torch.equal(layer(states, context, mask_B11K=None), layer(states, context, mask_B11K=None))
