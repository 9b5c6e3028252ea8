"""Adam follows its equations, and continues from the tensors of a checkpoint."""

import copy

import pytest
import torch

from nmtcore.config.training import TrainingSettings
from nmtcore.training.optimiser import Adam


def backward(model, seed):
    generator = torch.Generator().manual_seed(seed)
    model(torch.randn(3, 5, generator=generator).double()).square().sum().backward()


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_steps_follow_the_equations_of_kingma_and_ba_with_the_decay_of_loshchilov_and_hutter(decay):
    settings = TrainingSettings(max_updates=1, betas=(0.8, 0.95), epsilon=1e-6, weight_decay=decay)
    model = torch.nn.Linear(5, 7).double()
    adam = Adam(dict(model.named_parameters()), settings)
    weight, mean, square = model.weight.detach().clone(), 0.0, 0.0
    for update in range(1, 6):
        backward(model, update)
        gradient, rate = model.weight.grad.clone(), 0.01 * update
        adam.step(rate=rate)
        mean, square = 0.8 * mean + 0.2 * gradient, 0.95 * square + 0.05 * gradient**2
        unbiased = mean / (1 - 0.8**update), square / (1 - 0.95**update)
        weight = weight - rate * (unbiased[0] / (unbiased[1].sqrt() + 1e-6) + decay * weight)
        torch.testing.assert_close(model.weight.detach(), weight)
        assert model.weight.grad is None


def test_a_restored_optimiser_continues_alike():
    settings = TrainingSettings(max_updates=1)
    model = torch.nn.Linear(5, 7).double()
    adam = Adam(dict(model.named_parameters()), settings)
    backward(model, 1)
    adam.step(rate=0.1)
    copied = copy.deepcopy(model)
    restored = Adam(dict(copied.named_parameters()), settings)
    restored.restore({name: tensor.clone() for name, tensor in adam.tensors().items()})
    for its_model, optimiser in ((model, adam), (copied, restored)):
        backward(its_model, 2)
        optimiser.step(rate=0.1)
    assert torch.equal(model.weight, copied.weight)
    assert torch.equal(model.bias, copied.bias)
