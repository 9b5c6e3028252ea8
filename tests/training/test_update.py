"""The random state of an update depends on the seed, the update and the rank."""

import torch

from nmtcore.training.update import seed_update


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
