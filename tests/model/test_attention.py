"""Tests of one attention layer against double loops."""

import numpy as np
import pytest
import torch
from oracles import multi_head_attention

from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.components.base import AttentionHooks, Context
from nmtcore.model.transformer import CrossAttention, SelfAttention

SETTINGS = TransformerSettings(width=12, heads=3, feed_forward=8, encoder_layers=1, decoder_layers=1)


SAME_SCORES = AttentionHooks(scores=lambda scores, inputs: scores)
"""Makes a layer compute attention explicitly, without changing its scores."""

each_form = pytest.mark.parametrize("hooks", [[], [SAME_SCORES]], ids=["fused", "explicit"])


def apply_linear(layer, linear, x):
    return x @ getattr(layer, linear).weight.detach().numpy().T + getattr(layer, linear).bias.detach().numpy()


@each_form
@pytest.mark.parametrize("causal", [False, True])
def test_self_attention_equals_double_loops(hooks, causal):
    torch.manual_seed(0)
    layer = SelfAttention(SETTINGS, hooks).double()
    lengths, states = [5, 1, 3], torch.randn(3, 5, 12, dtype=torch.float64)
    mask_BS = torch.arange(5) < torch.tensor(lengths).unsqueeze(1)
    mask = {"causal": True} if causal else {"mask_B11K": mask_BS[:, None, None]}
    output = layer(states, Context(mask_BS=mask_BS), **mask)
    for i, length in enumerate(lengths):
        packed = np.split(apply_linear(layer, "queries_keys_values", states[i, :length].numpy()), 3, axis=1)
        expected = apply_linear(layer, "output", multi_head_attention(*packed, 3, causal=causal))
        np.testing.assert_allclose(output[i, :length].detach().numpy(), expected, rtol=1e-10, atol=1e-12)


@each_form
@pytest.mark.parametrize("queries", [1, 4])
def test_cross_attention_equals_double_loops(hooks, queries):
    torch.manual_seed(0)
    layer = CrossAttention(SETTINGS, hooks).double()
    states, memory = torch.randn(2, queries, 12, dtype=torch.float64), torch.randn(2, 6, 12, dtype=torch.float64)
    lengths = [2, 6]
    mask_BS = torch.arange(6) < torch.tensor(lengths).unsqueeze(1)
    output = layer(states, layer.project(memory), Context(mask_BS=mask_BS), mask_BS[:, None, None])
    for i, length in enumerate(lengths):
        keys, values = np.split(apply_linear(layer, "keys_values", memory[i, :length].numpy()), 2, axis=1)
        mixed = multi_head_attention(apply_linear(layer, "queries", states[i].numpy()), keys, values, 3, causal=False)
        np.testing.assert_allclose(
            output[i].detach().numpy(), apply_linear(layer, "output", mixed), rtol=1e-10, atol=1e-12
        )


def test_the_explicit_form_applies_dropout_only_in_training():
    torch.manual_seed(0)
    settings = TransformerSettings(width=12, heads=3, attention_dropout=0.5)
    layer = SelfAttention(settings, [SAME_SCORES])
    states, context = torch.randn(1, 4, 12), Context(mask_BS=torch.ones(1, 4, dtype=torch.bool))
    assert not torch.equal(layer(states, context), layer(states, context))
    layer.eval()
    assert torch.equal(layer(states, context), layer(states, context))
