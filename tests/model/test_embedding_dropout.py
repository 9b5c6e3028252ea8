"""Embeddings have the dropout of the rest of the model, or one of their own."""

import numpy as np
import pytest
import torch

from nmtcore.model.batch import make_batch


def entering(model, batch, stack):
    """What the first layer of a stack reads, in training."""
    seen = []
    layer = getattr(model, stack)[0]
    handle = layer.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0].detach().clone()))
    torch.manual_seed(5)
    model.train().loss(batch)
    handle.remove()
    return seen[0]


def losses_and_gradients(model, batch):
    torch.manual_seed(3)
    loss = model.train().loss(batch).parts[0].sum
    loss.backward()
    return [loss.detach(), *(parameter.grad for parameter in model.parameters())]


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_embeddings_alone_may_go_without(make, draw, stack):
    batch = make_batch(draw(8, seed=1), np.arange(8))
    whole = entering(make(), batch, stack)
    torch.testing.assert_close(entering(make(dropout=0.3, embedding_dropout=0.0), batch, stack), whole, rtol=0, atol=0)
    for settings, share in (({"dropout": 0.3}, 0.3), ({"dropout": 0.0, "embedding_dropout": 0.6}, 0.6)):
        dropped = entering(make(**settings), batch, stack)
        gone = dropped == 0
        assert gone.float().mean().item() == pytest.approx(share, abs=0.05)
        torch.testing.assert_close(dropped[~gone], whole[~gone] / (1 - share))


def test_without_one_of_their_own_nothing_changes(make, draw):
    """The same numbers from the same random stream, bit for bit."""
    batch = make_batch(draw(8, seed=1), np.arange(8))
    silent, named = make(dropout=0.3), make(dropout=0.3, embedding_dropout=0.3)
    for one, other in zip(losses_and_gradients(silent, batch), losses_and_gradients(named, batch), strict=True):
        assert torch.equal(one, other)
    apart = losses_and_gradients(make(dropout=0.3, embedding_dropout=0.2), batch)
    assert not torch.equal(apart[0], losses_and_gradients(make(dropout=0.3), batch)[0])
