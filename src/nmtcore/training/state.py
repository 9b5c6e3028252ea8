"""The state of a training run as plain values, and the learning rate, which depends on it and on the update."""

import math
from dataclasses import dataclass, field

from nmtcore.config.training import ScheduleSettings, TrainingSettings


@dataclass(kw_only=True)
class TrainingState:
    """What a run needs to resume, besides tensors; a checkpoint stores it as JSON."""

    update: int = 0
    """The number of updates done."""
    epoch: int = 0
    step: int = 0
    """The next batch is number `step` of epoch `epoch`, both counted from 0."""
    seconds: float = 0.0
    """The training time, over all attempts."""
    validated: int = 0
    """The update of the last validation."""
    scores: dict[str, float] = field(default_factory=dict)
    """The scores of the last validation."""
    best_score: float | None = None
    """The best score of the metric, with a sign such that more is better."""
    best_update: int | None = None
    """The update of the best score."""
    waited: int = 0
    """The number of validations since the best one."""
    lowered: int = 0
    """How often validations have lowered the learning rate."""
    window: list[int] = field(default_factory=list)
    """The updates of the last regular checkpoints, for averaging."""
    stopped: str | None = None
    """Why training ended; None while it goes on."""

    @property
    def trained_epoch(self) -> int:
        """The epoch (from 1) of the last update; 0 before the first."""
        return self.epoch + (self.step > 0)

    def needs(self) -> set[int]:
        """Return the updates whose checkpoints this state refers to, its own included."""
        return {self.update, *self.window, *([] if self.best_update is None else [self.best_update])}

    def advance(self, *, batches: int) -> None:
        """Count an update, and an epoch if the update was the last of the epoch's `batches`."""
        self.update += 1
        self.step += 1
        if self.step == batches:
            self.epoch, self.step = self.epoch + 1, 0


def learning_rate(settings: ScheduleSettings, update: int, *, lowered: int = 0) -> float:
    """Return the learning rate of an update (from 1), after validations have lowered it so often.

    constant: linear warm-up to `peak`, then `peak`. inverse_sqrt: peak * min(update / warmup, sqrt(warmup / update))
    (Vaswani et al. 2017, section 5.3, with a free peak instead of one that depends on the model width). plateau and
    halving: `peak` times `factor` for each time that the rate was lowered, after the warm-up; plateau never falls below
    `floor`.
    """
    warmup = max(1, settings.warmup)
    if settings.kind == "inverse_sqrt":
        return settings.peak * min(update / warmup, math.sqrt(warmup / update))
    rate = settings.peak * settings.factor**lowered
    if settings.kind == "plateau":
        rate = max(rate, min(settings.floor, settings.peak))
    return rate * min(1.0, update / warmup)


def lowers_rate(settings: ScheduleSettings, *, waited: int, perplexity: float, before: float | None) -> bool:
    """Say whether a validation lowers the rate, `waited` validations after the best one (0: it is the best itself).

    plateau: whenever more than `patience` validations in a row have no better score, counted as in
    `torch.optim.lr_scheduler.ReduceLROnPlateau` and JoeyNMT (with patience 8, the ninth lowers the rate). halving: if
    perplexity is higher than at the validation before, if there was one (tran2018).
    """
    if settings.kind == "plateau":
        return waited > 0 and waited % (settings.patience + 1) == 0
    return settings.kind == "halving" and before is not None and perplexity > before


def end_reason(settings: TrainingSettings, state: TrainingState) -> str | None:
    """Say why training has ended; None while it goes on."""
    patience, schedule = settings.validation.stop_after, settings.schedule
    if settings.max_updates is not None and state.update >= settings.max_updates:
        return f"all {settings.max_updates} updates are done"
    if settings.max_epochs is not None and state.epoch >= settings.max_epochs:
        return f"all {settings.max_epochs} epochs are done"
    if patience is not None and state.waited >= patience:
        return f"no better {settings.validation.metric} in {patience} validations"
    if schedule.kind == "halving" and schedule.stop_after is not None and state.lowered >= schedule.stop_after:
        return f"the learning rate was lowered {schedule.stop_after} times"
    rate = schedule.peak * schedule.factor**state.lowered  # without warm-up, as in JoeyNMT
    if schedule.kind == "plateau" and schedule.stop_at_floor and rate <= schedule.floor:
        return f"the learning rate reached its floor of {schedule.floor:g}"
    return None
