"""Learning rates follow the papers' formulas and torch's implementation."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from training import tiny

from nmtcore.config.training import ScheduleSettings
from nmtcore.training.state import TrainingState, end_reason, learning_rate, lowers_rate


@given(st.integers(1, 100_000), st.integers(0, 9000))
def test_inverse_square_root_is_vaswanis_formula(update, warmup):
    w = max(warmup, 1)
    formula = min(update**-0.5, update * w**-1.5)  # without D^-0.5, which belongs to the peak
    settings = ScheduleSettings(kind="inverse_sqrt", peak=1e-3, warmup=warmup)
    assert learning_rate(settings, update) == pytest.approx(1e-3 * formula * w**0.5)


@given(st.lists(st.integers(0, 5), max_size=40), st.integers(0, 3))
def test_plateau_equals_torchs(scores, patience):
    import torch

    settings = ScheduleSettings(kind="plateau", peak=1.0, factor=0.7, patience=patience, floor=0.1)
    lowered, waited, best = 0, 0, None
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    theirs = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser, mode="max", factor=0.7, patience=patience, threshold=0, threshold_mode="abs", min_lr=0.1, eps=0
    )
    for score in scores:
        better = best is None or score > best
        best, waited = (score, 0) if better else (best, waited + 1)
        lowered += lowers_rate(settings, waited=waited, perplexity=1.0, before=1.0)
        theirs.step(score)
        assert learning_rate(settings, 7, lowered=lowered) == pytest.approx(optimiser.param_groups[0]["lr"])


def test_halving_compares_with_the_previous_perplexity():
    settings, lowered, rates = ScheduleSettings(kind="halving", peak=1.0, factor=0.5), 0, []
    perplexities = (9.0, 8.0, 8.5, 8.2, 8.2, 8.3, math.inf)
    for perplexity, before in zip(perplexities, (None, *perplexities), strict=False):
        lowered += lowers_rate(settings, waited=1, perplexity=perplexity, before=before)
        rates.append(learning_rate(settings, 1, lowered=lowered))
    assert rates == [1, 1, 0.5, 0.5, 0.5, 0.25, 0.125]


# JoeyNMT's settings for WMT17: 28 steps from 2e-4 by 0.7 lead below 1e-8.
JOEYNMT = {"kind": "plateau", "peak": 2e-4, "factor": 0.7, "patience": 8, "floor": 1e-8}
FLOOR = "the learning rate reached its floor of 1e-08"


@pytest.mark.parametrize(
    ("schedule", "state", "reason"),
    [
        ({}, {"update": 23}, None),
        ({}, {"update": 24}, "all 24 updates are done"),
        ({}, {"epoch": 2}, "all 2 epochs are done"),
        ({}, {"waited": 3}, "no better perplexity in 3 validations"),
        ({"kind": "halving", "stop_after": 3}, {"lowered": 2}, None),
        ({"kind": "halving", "stop_after": 3}, {"lowered": 3}, "the learning rate was lowered 3 times"),
        (JOEYNMT | {"stop_at_floor": True}, {"lowered": 27}, None),
        (JOEYNMT | {"stop_at_floor": True}, {"lowered": 28}, FLOOR),
        (JOEYNMT, {"lowered": 28}, None),
    ],
)
def test_training_ends_for_a_reason(schedule, state, reason):
    run = tiny.settings(schedule=schedule, validation={"stop_after": 3}, max_epochs=2)
    assert end_reason(run.training, TrainingState(**state)) == reason
