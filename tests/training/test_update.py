"""The random state of an update depends on the seed, the update and the rank; and the precision of products."""

import pytest
import torch
from training import tiny

from nmtcore.training.train import precision_message
from nmtcore.training.update import autocast, seed_update, tf32, used_precision


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


@pytest.mark.parametrize("supported", [True, False])
@pytest.mark.parametrize("precision", ["fp32", "tf32", "bf16"])
def test_a_gpu_without_bf16_and_a_cpu_train_in_fp32(precision, supported, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: supported)
    settings, gpu = tiny.settings(precision=precision).training, torch.device("cuda", 0)
    lacks = precision == "bf16" and not supported
    assert used_precision(settings, gpu) == ("fp32" if lacks else precision)
    assert used_precision(settings, torch.device("cpu")) == "fp32"
    assert autocast(settings, torch.device("cpu"))._enabled is False
    sentence = "Training in fp32: this GPU has no bf16." if lacks else f"Training in {precision}."
    assert precision_message(settings, gpu) == sentence
