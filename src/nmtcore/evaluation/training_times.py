"""The time that a run's training took, from its log."""

from dataclasses import dataclass
from pathlib import Path
from statistics import median

from nmtcore.errors import UserError
from nmtcore.training.log import read_history


@dataclass(frozen=True, kw_only=True)
class TrainingTime:
    """How long training took. Medians, so that moments in which the machine was busy do not count."""

    updates: int
    """Number of updates."""
    seconds_per_update: float
    """Median over the log's lines of the seconds per update, without validation."""
    validations: int
    """Number of validations."""
    seconds_per_validation: float
    """Median over the validations; 0 if there are none."""

    @property
    def seconds(self) -> float:
        """The time of all updates and validations at these medians."""
        return self.updates * self.seconds_per_update + self.validations * self.seconds_per_validation

    @property
    def seconds_per_update_with_validation(self) -> float:
        """The time divided by the number of updates, so that runs of different lengths can be compared."""
        return self.seconds / self.updates


def training_time(history: Path) -> TrainingTime:
    """Compute the training time from `training.jsonl`. Raises `UserError` if the log has no updates or no times."""
    updates, validations, before, last = [], [], 0.0, 0
    try:
        for record in read_history(history):
            elapsed, before = record["seconds"] - before, record["seconds"]
            if "validation" in record:
                validations.append(elapsed)
            else:
                updates.append(elapsed / record["updates"])
                last = record["update"]
    except (KeyError, TypeError) as error:
        raise UserError(f"{history} has a line without seconds or updates: delete it and train again.") from error
    if not updates:
        raise UserError(f"{history} records no updates, so there is no training time: delete it and train again.")
    return TrainingTime(
        updates=last,
        seconds_per_update=median(updates),
        validations=len(validations),
        seconds_per_validation=median(validations) if validations else 0.0,
    )
