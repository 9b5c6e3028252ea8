"""Where a training run stands: all that is neither a weight nor the optimiser's, as plain values."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(kw_only=True)
class TrainingState:
    """The position and the memory of a run; a checkpoint holds it as JSON."""

    update: int = 0
    """Updates done."""
    epoch: int = 0
    step: int = 0
    """The next batch is number `step` of epoch `epoch`, both from 0."""
    seconds: float = 0.0
    """Spent training, over all attempts."""
    validated: int = 0
    """The update of the last validation."""
    scores: dict[str, float] = field(default_factory=dict)
    """What the last validation gave."""
    best_score: float | None = None
    """By the metric, turned so that more is better."""
    best_update: int | None = None
    waited: int = 0
    """Validations since the best one."""
    window: list[int] = field(default_factory=list)
    """The updates of the last regular checkpoints, for averaging."""
    schedule: dict[str, Any] = field(default_factory=dict)
    stopped: str | None = None
    """Why training is over; None while it is not."""

    def needs(self) -> set[int]:
        """Give the updates whose checkpoints this state refers to, its own included."""
        best = set() if self.best_update is None else {self.best_update}
        return {self.update, *self.window} | best

    def advance(self, *, batches: int) -> None:
        """Count an update, and the epoch where its `batches` are through."""
        self.update += 1
        self.step += 1
        if self.step == batches:
            self.epoch, self.step = self.epoch + 1, 0

    def to_json(self) -> dict[str, Any]:
        """Write as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "TrainingState":
        """Read plain values back."""
        return cls(**values)
