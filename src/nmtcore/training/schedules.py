"""Learning rate schedules: functions of the update, some of which also depend on validation scores.

Updates count from 1. A schedule's state is a dict of plain values, which checkpoints store.
"""

import math
from typing import Any

from nmtcore.config.training import ScheduleSettings


class Schedule:
    """`constant`: linear warm-up to `peak`, then `peak`; the base class of the other schedules."""

    def __init__(self, settings: ScheduleSettings) -> None:
        self.settings = settings

    def rate(self, update: int) -> float:
        """Return the learning rate of an update."""
        return self.settings.peak * self._warmup_factor(update)

    def after_validation(self, *, better: bool, perplexity: float) -> None:
        """Adapt the schedule to a validation: whether its score is the best so far, and its perplexity."""

    @property
    def may_end_training(self) -> bool:
        """Whether validation scores can make the schedule end training, so that its length is unknown."""
        return False

    @property
    def end_reason(self) -> str | None:
        """Why the schedule ends training; None while training goes on."""
        return None

    def state(self) -> dict[str, Any]:
        """Return what changes during training, as plain values."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from the values that `state` returned."""

    def _warmup_factor(self, update: int) -> float:
        return min(1.0, update / max(1, self.settings.warmup))


class InverseSquareRoot(Schedule):
    """`inverse_sqrt`: peak * min(update / warmup, sqrt(warmup / update)).

    Vaswani et al. 2017, section 5.3, with a free peak instead of one that depends on the model width.
    """

    def rate(self, update: int) -> float:
        """Return the learning rate of an update."""
        warmup = max(1, self.settings.warmup)
        return self.settings.peak * min(update / warmup, math.sqrt(warmup / update))


class Plateau(Schedule):
    """`plateau`: multiply the rate by `factor` after more than `patience` validations in a row without a better score.

    The rate never falls below `floor`. Validations are counted as in `torch.optim.lr_scheduler.ReduceLROnPlateau` and
    JoeyNMT: with patience 8, the ninth lowers the rate. With `stop_at_floor`, training ends when the rate, without
    warm-up, reaches `floor`, as in JoeyNMT.
    """

    def __init__(self, settings: ScheduleSettings) -> None:
        super().__init__(settings)
        self.steps = 0
        self.waited = 0

    def rate(self, update: int) -> float:
        """Return the learning rate of an update."""
        return max(self._lowered_peak, min(self.settings.floor, self.settings.peak)) * self._warmup_factor(update)

    @property
    def _lowered_peak(self) -> float:
        return self.settings.peak * self.settings.factor**self.steps

    @property
    def may_end_training(self) -> bool:
        """Whether the floor ends training."""
        return self.settings.stop_at_floor

    @property
    def end_reason(self) -> str | None:
        """The floor, if the rate has reached it and `stop_at_floor` is set."""
        if self.settings.stop_at_floor and self._lowered_peak <= self.settings.floor:
            return f"the learning rate reached its floor of {self.settings.floor:g}"
        return None

    def after_validation(self, *, better: bool, perplexity: float) -> None:
        """Count validations without a better score; lower the rate after too many."""
        self.waited = 0 if better else self.waited + 1
        if self.waited > self.settings.patience:
            self.steps += 1
            self.waited = 0

    def state(self) -> dict[str, Any]:
        """Return what changes during training, as plain values."""
        return {"steps": self.steps, "waited": self.waited}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from the values that `state` returned."""
        self.steps, self.waited = state["steps"], state["waited"]


class Halving(Schedule):
    """`halving`: multiply the rate by `factor` whenever perplexity is higher than at the previous validation.

    With `stop_after`, training ends after that many such steps.
    """

    def __init__(self, settings: ScheduleSettings) -> None:
        super().__init__(settings)
        self.steps = 0
        self.previous: float | None = None

    def rate(self, update: int) -> float:
        """Return the learning rate of an update."""
        return self.settings.peak * self.settings.factor**self.steps * self._warmup_factor(update)

    def after_validation(self, *, better: bool, perplexity: float) -> None:
        """Lower the rate if perplexity has risen since the previous validation."""
        if self.previous is not None and perplexity > self.previous:
            self.steps += 1
        self.previous = perplexity

    @property
    def may_end_training(self) -> bool:
        """Whether a number of steps ends training."""
        return self.settings.stop_after is not None

    @property
    def end_reason(self) -> str | None:
        """The number of steps, if it has reached `stop_after`."""
        if self.settings.stop_after is not None and self.steps >= self.settings.stop_after:
            return f"the learning rate was lowered {self.settings.stop_after} times"
        return None

    def state(self) -> dict[str, Any]:
        """Return what changes during training, as plain values."""
        return {"steps": self.steps, "previous": self.previous}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from the values that `state` returned."""
        self.steps, self.previous = state["steps"], state["previous"]


_SCHEDULES = {"constant": Schedule, "inverse_sqrt": InverseSquareRoot, "plateau": Plateau, "halving": Halving}


def make_schedule(settings: ScheduleSettings) -> Schedule:
    """Make the schedule of the given settings."""
    return _SCHEDULES[settings.kind](settings)
