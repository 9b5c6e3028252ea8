"""Copies of the weights in bf16 change neither losses nor gradients."""

import copy
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from nmtcore.config.components import COMPONENTS
from nmtcore.config.training import TrainingSettings
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import make_batch
from nmtcore.model.components.base import Build, Component
from nmtcore.model.testing import random_examples, small_model
from nmtcore.training import update
from nmtcore.training.optimiser import Adam
from nmtcore.training.update import accumulate_gradients, count_terms, seed_update, term_names, weight_copies
from nmtcore.training.weight_copies import WeightCopies

CPU = torch.device("cpu")
BF16 = TrainingSettings(max_updates=2, precision="bf16")


@pytest.fixture(autouse=True)
def _bf16_on_a_cpu(monkeypatch):
    monkeypatch.setattr(update, "used_precision", lambda settings, device: settings.precision)


def updated(model: TranslationModel, copies: WeightCopies | None, *, updates: int = 2) -> list[Tensor]:
    """Do updates of two batches each; return the sums and gradients of the last, and the weights after it."""
    model, examples = model.train(), random_examples(6, seed=3)
    batches = [make_batch(examples, rows, model.components) for rows in ([0, 1, 2], [3, 4, 5])]
    parameters, names = dict(model.named_parameters()), term_names(model.components)
    optimiser = Adam(parameters, BF16)
    for number in range(updates):
        seed_update(1, number, 0)
        sums = accumulate_gradients(model, batches, count_terms(batches, names), BF16, CPU, copies)
        gradients = [parameter.grad for parameter in parameters.values()]
        assert {gradient.dtype for gradient in gradients if gradient is not None} == {torch.float32}
        for parameter in parameters.values():
            parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        optimiser.step(rate=0.01)
    return [sums, *gradients, *parameters.values()]


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("base", ["transformer", "recurrent"])
def test_losses_gradients_and_weights_equal_those_of_autocast(base, joint):
    model = small_model(base=base, joint=joint, dropout=0.1).float()
    other = copy.deepcopy(model)
    expected = updated(model, None)
    for result, own in zip(updated(other, WeightCopies(other)), expected, strict=True):
        assert torch.equal(result, own)


@pytest.mark.parametrize("name", sorted(COMPONENTS))
def test_components_compute_the_same_with_copies(name, example):
    model = small_model(example(name)).float()
    other = copy.deepcopy(model)
    expected = updated(model, None, updates=1)
    for result, own in zip(updated(other, WeightCopies(other), updates=1), expected, strict=True):
        assert (result is None and own is None) or torch.equal(result, own)


class Precise(Component):
    """A component of the user's own that computes in fp32, by calling a layer and by taking its weight."""

    def __init__(self) -> None:
        super().__init__(None, Build(name="precise"))
        self.layers = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Linear(16, 16))

    def embed_source(self, embedded_BSD, context):
        with torch.autocast(embedded_BSD.device.type, enabled=False):
            return embedded_BSD + self.layers(embedded_BSD.float()) @ self.layers[0].weight


def test_own_components_may_turn_autocast_off():
    model = small_model(extra_components=[Precise()]).float()
    other = copy.deepcopy(model)
    expected = updated(model, None)
    for result, own in zip(updated(other, WeightCopies(other)), expected, strict=True):
        assert torch.equal(result, own)


def test_the_layers_keep_their_own_weights_also_after_an_error():
    model = small_model().float()
    weights = dict(model.named_parameters())

    def fail(self, *_):
        assert self.inner.weight.dtype == torch.bfloat16
        raise ZeroDivisionError

    model.encoder[0].feed_forward.register_forward_pre_hook(fail)
    with pytest.raises(ZeroDivisionError):
        updated(model, WeightCopies(model))
    assert all(weights[name] is parameter for name, parameter in model.named_parameters())


@pytest.mark.parametrize("changes", [{}, {"weight_copies": False}, {"precision": "fp32"}], ids=str)
def test_copies_are_made_for_bf16_unless_they_are_turned_off(changes):
    copies = weight_copies(replace(BF16, **changes), small_model(), CPU)
    assert (copies is None) == bool(changes)
