"""The random state and operations of an update, precision, sentences that are left out, and the steps of Adam."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from training import tiny

from nmtcore.config.training import TrainingSettings
from nmtcore.model import trees
from nmtcore.model.batch import make_batch
from nmtcore.model.device import measured_peak
from nmtcore.training.update import (
    Adam,
    accumulate_gradients,
    autocast,
    precision_message,
    seed_update,
    tf32,
    update_operations,
    used_precision,
)


def draw_after_seeding(**changes):
    """Draw numbers after seeding update 3 of seed 1 on the first device; `changes` replace these values."""
    seed_update(**{"seed": 1, "update": 3, "rank": 0} | changes)
    return torch.rand(4).tolist()


def test_draws_depend_only_on_seed_update_and_rank():
    changes = [{}, {"seed": 2}, {"update": 4}, {"rank": 1}, {"rank": 2}]
    draws = [draw_after_seeding(**change) for change in changes]
    assert len(set(map(tuple, draws))) == 5
    torch.rand(7)
    assert draw_after_seeding() == draws[0]


@pytest.mark.parametrize(
    ("precision", "device", "within"),
    [("tf32", "cuda", "high"), ("tf32", "cpu", "highest"), ("fp32", "cuda", "highest"), ("bf16", "cuda", "highest")],
)
def test_tf32_is_for_gpus_and_ends_with_training(precision, device, within):
    with tf32(tiny.settings(precision=precision).training, torch.device(device)):
        assert torch.get_float32_matmul_precision() == within
    assert torch.get_float32_matmul_precision() == "highest"


@pytest.mark.parametrize(("precision", "supported"), [("tf32", False), ("bf16", True), ("bf16", False)])
def test_a_gpu_without_bf16_and_a_cpu_train_in_fp32(precision, supported, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: supported)
    settings, gpu = tiny.settings(precision=precision).training, torch.device("cuda", 0)
    lacks = precision == "bf16" and not supported
    assert used_precision(settings, gpu) == ("fp32" if lacks else precision)
    assert used_precision(settings, torch.device("cpu")) == "fp32"
    assert autocast(settings, torch.device("cpu"))._enabled is False
    sentence = "Training in fp32: this GPU has no bf16." if lacks else f"Training in {precision}."
    assert precision_message(settings, gpu) == sentence


def test_an_update_leaves_out_sentences_whose_trees_are_too_large_and_names_them(monkeypatch):
    run, examples, rows = tiny.settings(recurrent=True, dropout=0.0), tiny.examples(12), [2, 3, 11, 8, 0, 4]
    assert examples.source.ids.lengths[rows].tolist() == [5, 3, 8, 2, 7, 3]
    model, messages = tiny.model_of(run).double(), []

    def gradients(*batches):
        model.zero_grad()
        made = [make_batch(examples, batch, model.components) for batch in batches]
        sums = accumulate_gradients(
            model, made, {"translation": 50}, run.training, torch.device("cpu"), log=messages.append
        )
        return [*sums.values(), *(parameter.grad for parameter in model.parameters())]

    expected = gradients([3, 8, 4])
    monkeypatch.setattr(trees, "LARGEST_INVERSE", 0.0)  # every sentence is eliminated
    monkeypatch.setattr(trees, "LONGEST_ELIMINATED", 4)
    assert not messages
    for batches in ([rows], [rows[:1], rows[1:3], rows[3:]]):
        for own, other in zip(gradients(*batches), expected, strict=True):
            torch.testing.assert_close(own, other)
    assert messages[0] == (
        "An update leaves out a sentence: the memory is too small for the trees of the source sentence with the id "
        "11, which has 8 subwords; with scores as far apart as its own, at most 4 are possible."
    )
    named = [int(message.partition(" id ")[2].partition(",")[0]) for message in messages]
    assert named == [11, 0, 2, 2, 11, 0]


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_steps_follow_the_equations_of_kingma_and_ba_with_the_decay_of_loshchilov_and_hutter(decay):
    settings = TrainingSettings(max_updates=1, betas=(0.8, 0.95), epsilon=1e-6, weight_decay=decay)
    model = torch.nn.Linear(5, 7).double()
    adam = Adam(dict(model.named_parameters()), settings)
    weight, mean, square = model.weight.detach().clone(), 0.0, 0.0
    for update in range(1, 6):
        model(torch.randn(3, 5).double()).square().sum().backward()
        gradient, rate = model.weight.grad.clone(), 0.01 * update
        adam.step(rate=rate)
        mean, square = 0.8 * mean + 0.2 * gradient, 0.95 * square + 0.05 * gradient**2
        unbiased = mean / (1 - 0.8**update), square / (1 - 0.95**update)
        weight = weight - rate * (unbiased[0] / (unbiased[1].sqrt() + 1e-6) + decay * weight)
        torch.testing.assert_close(model.weight.detach(), weight)
        assert model.weight.grad is None


def test_operations_are_those_of_products_with_weights_without_padding():
    run, examples = tiny.settings(dropout=0.0), tiny.examples(7)
    model = tiny.model_of(run)
    rows = [np.array([row]) for row in range(7)]  # without padding
    with FlopCounterMode(display=False) as counter:
        for row in rows:
            model.loss(make_batch(examples, row)).objective().backward()
    counted = counter.get_flop_counts()["Global"]
    expected = sum(counted[product] for product in (torch.ops.aten.mm, torch.ops.aten.addmm))
    assert update_operations(model, [make_batch(examples, np.arange(7))]) == expected


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_peak_is_that_of_a_product(precision):
    with FlopCounterMode(display=False) as counter:
        peak = measured_peak(torch.device("cpu"), precision, width=64)
    assert counter.get_total_flops() == 11 * 2 * 64**3, "a first one, and ten that are timed"
    assert 0 < peak < 1e15
