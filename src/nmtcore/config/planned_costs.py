"""What a plan takes: runs, updates, hours and disk of each table, with what is unknown about them.

Planning computes it (`nmtcore.planning.costs`), and `nmtcore.reporting.cost_table` shows it.
"""

from dataclasses import fields
from typing import Any

from nmtcore.config.ranges import Amount, NonNegative, settings_class


@settings_class
class Estimate:
    """A sum, and how many of its terms are unknown and left out."""

    value: NonNegative = 0.0
    """The sum of the known terms."""
    unknown: Amount = 0
    """The number of unknown terms."""
    at_most: bool = False
    """Whether some of the terms are only upper limits."""

    def __add__(self, other: "Estimate") -> "Estimate":
        return Estimate(
            value=self.value + other.value,
            unknown=self.unknown + other.unknown,
            at_most=self.at_most or other.at_most,
        )


def estimated(value: float | None, *, at_most: bool = False) -> Estimate:
    """Make an estimate of a single term; None: it is unknown."""
    return Estimate(unknown=1) if value is None else Estimate(value=value, at_most=at_most)


@settings_class
class PlannedCost:
    """What some runs and their data take, without those that are there or that an earlier row counts."""

    name: str = ""
    """The table."""
    runs: Amount = 0
    """All runs that the table is made from."""
    finished: Amount = 0
    """Those that are finished."""
    counted: Amount = 0
    """Unfinished ones that an earlier row counts."""
    updates: Estimate = Estimate()
    """Updates of training."""
    training_hours: Estimate = Estimate()
    """Hours of training, validation and translation on the device."""
    annotation_hours: Estimate = Estimate()
    """Hours of annotation on a processor core."""
    disk_bytes: Estimate = Estimate()
    """Models, checkpoints, corpora, annotations and features."""

    @property
    def new(self) -> int:
        """The number of runs that this row counts."""
        return self.runs - self.finished - self.counted

    def __add__(self, other: "PlannedCost") -> "PlannedCost":
        sums: dict[str, Any] = {
            field.name: getattr(self, field.name) + getattr(other, field.name)
            for field in fields(self)
            if field.name != "name"
        }
        return PlannedCost(name=self.name, **sums)


@settings_class
class PlannedCosts:
    """The costs of tables, and how they are estimated."""

    rows: tuple[PlannedCost, ...]
    """A row per table that needs runs or data."""
    total: PlannedCost
    """Their sum, which counts each run once."""
    hours: str
    """The unit of `training_hours`: core-hours or GPU-hours."""
    notes: tuple[str, ...] = ()
    """Sentences: which speeds were used, what was assumed, and what is unknown."""
