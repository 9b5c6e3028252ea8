"""Tests of the embeddings' dropout: the model's, or a separate one."""

import numpy as np
import pytest
import torch

from nmtcore.model.batch import make_batch


def first_layer_inputs(model, batch, stack):
    """Return the input of a stack's first layer in training."""
    inputs = []
    layer = getattr(model, stack)[0]
    handle = layer.register_forward_pre_hook(lambda _, arguments: inputs.append(arguments[0].detach().clone()))
    torch.manual_seed(5)
    model.train().loss(batch)
    handle.remove()
    return inputs[0]


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_embeddings_can_have_another_dropout_than_the_model(make, draw, stack):
    batch = make_batch(draw(8, seed=1), np.arange(8))
    whole = first_layer_inputs(make(), batch, stack)
    torch.testing.assert_close(
        first_layer_inputs(make(dropout=0.3, embedding_dropout=0.0), batch, stack), whole, rtol=0, atol=0
    )
    for settings, share in (({"dropout": 0.3}, 0.3), ({"dropout": 0.0, "embedding_dropout": 0.6}, 0.6)):
        dropped = first_layer_inputs(make(**settings), batch, stack)
        zeroed = dropped == 0
        assert zeroed.float().mean().item() == pytest.approx(share, abs=0.05)
        torch.testing.assert_close(dropped[~zeroed], whole[~zeroed] / (1 - share))
