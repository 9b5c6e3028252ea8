"""The random state of an update depends on the seed, the update and the rank; and the precision of products."""

import pytest
import torch
from training import tiny

from nmtcore.training.update import seed_update, tf32


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
