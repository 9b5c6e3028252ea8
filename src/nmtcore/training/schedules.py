"""How the learning rate moves: a formula of the update, and for some schedules what validation said.

Updates count from 1. Every schedule has `rate(update)`, `validated(...)`, `finished` and its state as plain values.
"""

import math
from typing import Any

from nmtcore.config.training import ScheduleSettings


class Schedule:
    """`constant`: linear warm-up to `peak`, then `peak`. The others build on it."""

    def __init__(self, settings: ScheduleSettings) -> None:
        self.settings = settings

    def rate(self, update: int) -> float:
        """Give the learning rate of an update."""
        return self.settings.peak * self._warming(update)

    def validated(self, *, better: bool, perplexity: float) -> None:
        """Take note of a validation: whether its score is the best so far, and its perplexity."""

    @property
    def finished(self) -> str | None:
        """Why the schedule says that training is over; None while it does not."""
        return None

    def state(self) -> dict[str, Any]:
        """Give what changes during training as plain values."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from the values that `state` gave."""

    def _warming(self, update: int) -> float:
        return min(1.0, update / max(1, self.settings.warmup))


class InverseSquareRoot(Schedule):
    """peak * min(update / warmup, sqrt(warmup / update)), as Vaswani et al. 2017, section 5.3, with its own peak."""

    def rate(self, update: int) -> float:
        """Give the learning rate of an update."""
        warmup = max(1, self.settings.warmup)
        return self.settings.peak * min(update / warmup, math.sqrt(warmup / update))


class Plateau(Schedule):
    """Times `factor` when more than `patience` validations in a row were not better, but never below `floor`.

    As `torch.optim.lr_scheduler.ReduceLROnPlateau` and JoeyNMT count: patience 8 lets eight pass and acts on the ninth.
    With `stop_at_floor`, finished when the rate (apart from warm-up) is at `floor`, as JoeyNMT's training is.
    """

    def __init__(self, settings: ScheduleSettings) -> None:
        super().__init__(settings)
        self.steps = 0
        self.waited = 0

    def rate(self, update: int) -> float:
        """Give the learning rate of an update."""
        return max(self._lowered, min(self.settings.floor, self.settings.peak)) * self._warming(update)

    @property
    def _lowered(self) -> float:
        return self.settings.peak * self.settings.factor**self.steps

    @property
    def finished(self) -> str | None:
        """That the rate is at its floor, if this ends training."""
        if self.settings.stop_at_floor and self._lowered <= self.settings.floor:
            return f"the learning rate reached its floor of {self.settings.floor:g}"
        return None

    def validated(self, *, better: bool, perplexity: float) -> None:
        """Count the validations without a better score."""
        self.waited = 0 if better else self.waited + 1
        if self.waited > self.settings.patience:
            self.steps += 1
            self.waited = 0

    def state(self) -> dict[str, Any]:
        """Give what changes during training as plain values."""
        return {"steps": self.steps, "waited": self.waited}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from the values that `state` gave."""
        self.steps, self.waited = state["steps"], state["waited"]


class Halving(Schedule):
    """Times `factor` whenever perplexity rose since the validation before; finished after `stop_after` such steps."""

    def __init__(self, settings: ScheduleSettings) -> None:
        super().__init__(settings)
        self.steps = 0
        self.previous: float | None = None

    def rate(self, update: int) -> float:
        """Give the learning rate of an update."""
        return self.settings.peak * self.settings.factor**self.steps * self._warming(update)

    def validated(self, *, better: bool, perplexity: float) -> None:
        """Compare with the validation before."""
        if self.previous is not None and perplexity > self.previous:
            self.steps += 1
        self.previous = perplexity

    @property
    def finished(self) -> str | None:
        """That `stop_after` steps were taken."""
        if self.settings.stop_after is not None and self.steps >= self.settings.stop_after:
            return f"the learning rate was lowered {self.settings.stop_after} times"
        return None

    def state(self) -> dict[str, Any]:
        """Give what changes during training as plain values."""
        return {"steps": self.steps, "previous": self.previous}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from the values that `state` gave."""
        self.steps, self.previous = state["steps"], state["previous"]


_KINDS = {"constant": Schedule, "inverse_sqrt": InverseSquareRoot, "plateau": Plateau, "halving": Halving}


def make_schedule(settings: ScheduleSettings) -> Schedule:
    """Make the schedule that the settings name."""
    return _KINDS[settings.kind](settings)
