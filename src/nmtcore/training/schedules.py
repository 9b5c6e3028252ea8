"""Learning rates as functions of the update, and of what validations have changed.

Updates count from 1.
"""

import math
from dataclasses import dataclass

from nmtcore.config.training import ScheduleSettings


@dataclass(kw_only=True)
class ScheduleState:
    """What validations change; a checkpoint stores it."""

    steps: int = 0
    """How often the rate was lowered."""
    waited: int = 0
    """plateau: validations without a better score since the best one, or since the rate was lowered."""
    previous: float | None = None
    """halving: perplexity at the previous validation."""


def learning_rate(settings: ScheduleSettings, state: ScheduleState, update: int) -> float:
    """Return the learning rate of an update.

    constant: linear warm-up to `peak`, then `peak`. inverse_sqrt: peak * min(update / warmup, sqrt(warmup / update))
    (Vaswani et al. 2017, section 5.3, with a free peak instead of one that depends on the model width). plateau and
    halving: `peak` times `factor` for each time that the rate was lowered, after the warm-up; plateau never falls below
    `floor`.
    """
    warmup = max(1, settings.warmup)
    if settings.kind == "inverse_sqrt":
        return settings.peak * min(update / warmup, math.sqrt(warmup / update))
    rate = _lowered_peak(settings, state)
    if settings.kind == "plateau":
        rate = max(rate, min(settings.floor, settings.peak))
    return rate * min(1.0, update / warmup)


def after_validation(settings: ScheduleSettings, state: ScheduleState, *, better: bool, perplexity: float) -> None:
    """Lower the rate if a validation asks for it: `better` says whether its score is the best so far.

    plateau: after more than `patience` validations in a row without a better score, counted as in
    `torch.optim.lr_scheduler.ReduceLROnPlateau` and JoeyNMT (with patience 8, the ninth lowers the rate). halving: if
    perplexity is higher than at the previous validation (tran2018).
    """
    if settings.kind == "plateau":
        state.waited = 0 if better else state.waited + 1
        if state.waited > settings.patience:
            state.steps, state.waited = state.steps + 1, 0
    elif settings.kind == "halving":
        state.steps += state.previous is not None and perplexity > state.previous
        state.previous = perplexity


def may_end_training(settings: ScheduleSettings) -> bool:
    """Return whether validations can make the schedule end training, so that the number of updates is unknown."""
    if settings.kind == "plateau":
        return settings.stop_at_floor
    return settings.kind == "halving" and settings.stop_after is not None


def end_reason(settings: ScheduleSettings, state: ScheduleState) -> str | None:
    """Say why the schedule ends training; None while training goes on."""
    if not may_end_training(settings):
        return None
    if settings.kind == "plateau":  # the rate without warm-up, as in JoeyNMT
        reached = _lowered_peak(settings, state) <= settings.floor
        return f"the learning rate reached its floor of {settings.floor:g}" if reached else None
    lowered = f"the learning rate was lowered {settings.stop_after} times"
    return lowered if state.steps >= settings.stop_after else None


def _lowered_peak(settings: ScheduleSettings, state: ScheduleState) -> float:
    return settings.peak * settings.factor**state.steps
