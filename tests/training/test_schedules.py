"""Learning rates follow the papers' formulas and torch's implementation."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.config.training import ScheduleSettings
from nmtcore.training.schedules import ScheduleState, after_validation, end_reason, learning_rate


def rate(settings, update, state=None):
    return learning_rate(settings, state or ScheduleState(), update)


@given(st.integers(1, 100_000), st.integers(0, 9000))
def test_inverse_square_root_is_vaswanis_formula(update, warmup):
    w = max(warmup, 1)
    formula = min(update**-0.5, update * w**-1.5)  # without D^-0.5, which belongs to the peak
    settings = ScheduleSettings(kind="inverse_sqrt", peak=1e-3, warmup=warmup)
    assert rate(settings, update) == pytest.approx(1e-3 * formula * w**0.5)


def test_the_rate_of_pham2018_is_tensor2tensors():
    settings = ScheduleSettings(kind="inverse_sqrt", peak=0.2 * (512 * 8000) ** -0.5 * 10, warmup=8000)
    for update in (1, 100, 8000, 50_000):
        assert rate(settings, update) == pytest.approx(2 * 512**-0.5 * min(update * 8000**-1.5, update**-0.5))


def test_constant_warms_up():
    settings = ScheduleSettings(kind="constant", peak=0.5, warmup=4)
    assert [rate(settings, u) for u in (1, 2, 4, 5, 1000)] == [0.125, 0.25, 0.5, 0.5, 0.5]
    assert rate(ScheduleSettings(kind="constant", peak=0.5), 1) == 0.5


@given(st.lists(st.integers(0, 5), max_size=40), st.integers(0, 3))
def test_plateau_equals_torchs(scores, patience):
    import torch

    settings = ScheduleSettings(kind="plateau", peak=1.0, factor=0.7, patience=patience, floor=0.1)
    state, best = ScheduleState(), None
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    theirs = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser, mode="max", factor=0.7, patience=patience, threshold=0, threshold_mode="abs", min_lr=0.1, eps=0
    )
    for score in scores:
        better = best is None or score > best
        best = score if better else best
        after_validation(settings, state, better=better, perplexity=1.0)
        theirs.step(score)
        assert rate(settings, 7, state) == pytest.approx(optimiser.param_groups[0]["lr"])


def test_halving_compares_with_the_previous_perplexity_and_stops():
    settings, state = ScheduleSettings(kind="halving", peak=1.0, factor=0.5, stop_after=3), ScheduleState()
    rates, ends = [], []
    for perplexity in (9.0, 8.0, 8.5, 8.2, 8.2, 8.3, math.inf):
        after_validation(settings, state, better=False, perplexity=perplexity)
        rates.append(rate(settings, 1, state))
        ends.append(end_reason(settings, state))
    assert rates == [1, 1, 0.5, 0.5, 0.5, 0.25, 0.125]
    assert ends == [None] * 6 + ["the learning rate was lowered 3 times"]


def test_a_plateau_ends_training_at_its_floor():
    """JoeyNMT's settings for WMT17: 28 steps from 2e-4 by 0.7 lead below 1e-8."""
    values = {"kind": "plateau", "peak": 2e-4, "factor": 0.7, "patience": 8, "floor": 1e-8}
    settings, endless = (ScheduleSettings(**values, stop_at_floor=stops) for stops in (True, False))
    state = ScheduleState()
    for validation in range(9 * 28):
        assert end_reason(settings, state) is None, validation
        assert rate(settings, 1, state) > 1e-8
        after_validation(settings, state, better=False, perplexity=1.0)
    assert rate(settings, 1, state) == 1e-8
    assert end_reason(settings, state) == "the learning rate reached its floor of 1e-08"
    assert end_reason(endless, state) is None
