"""The state of a training run, apart from the tensors of model and optimiser, as plain values."""

from dataclasses import asdict, dataclass, field
from typing import Any

from nmtcore.training.schedules import ScheduleState


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
    window: list[int] = field(default_factory=list)
    """The updates of the last regular checkpoints, for averaging."""
    schedule: ScheduleState = field(default_factory=ScheduleState)
    components: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The states of components, by name, that validations change."""
    stopped: str | None = None
    """Why training ended; None while it goes on."""

    def needs(self) -> set[int]:
        """Return the updates whose checkpoints this state refers to, its own included."""
        best = set() if self.best_update is None else {self.best_update}
        return {self.update, *self.window} | best

    def advance(self, *, batches: int) -> None:
        """Count an update, and an epoch if the update was the last of the epoch's `batches`."""
        self.update += 1
        self.step += 1
        if self.step == batches:
            self.epoch, self.step = self.epoch + 1, 0

    def to_json(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "TrainingState":
        """Read the state from plain values."""
        return cls(**values | {"schedule": ScheduleState(**values["schedule"])})
