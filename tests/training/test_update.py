"""The random state of an update."""

import torch

from nmtcore.training.update import seed_update


def drawn(**changes):
    """What is drawn after seeding update 3 of seed 1 on the first device, with something changed."""
    seed_update(**{"seed": 1, "update": 3, "rank": 0} | changes)
    return torch.rand(4).tolist()


def test_every_seed_update_and_device_draws_by_itself_and_always_the_same():
    found = [drawn(), drawn(seed=2), drawn(update=4), drawn(rank=1), drawn(rank=2)]
    assert len(set(map(tuple, found))) == 5
    torch.rand(7)
    assert drawn() == found[0]
