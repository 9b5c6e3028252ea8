"""The stages of long work: the share of each that is done, and the time left."""

from collections.abc import Sequence
from dataclasses import dataclass

from nmtcore.training.log import duration

SMALLEST_SHARE = 0.05
"""The share of a stage that must be done before its own speed says how much time is left."""

TRUSTED = 20.0
"""Seconds for which estimates count, beside the time that has passed, in the speed of all stages."""


@dataclass(kw_only=True)
class Stage:
    """A stage of long work. All times are in seconds of one clock."""

    name: str
    expected: float
    """The time that it is expected to add to the whole; of stages that share the cores, each one's part."""
    began: float | None = None
    ended: float | None = None
    share: float = 0.0
    """The share that is done, 0 to 1."""
    first_share: float | None = None
    """The share that earlier work had done; None until the stage reports its first."""
    detail: str = ""
    """What it is doing, for example `update 20 of 700`."""
    failed: bool = False

    def begin(self, now: float) -> None:
        """Note the beginning; if the stage has failed, it is tried again."""
        if self.began is None:
            self.began = now
        self.failed, self.ended = False, None

    def report(self, share: float, detail: str = "") -> None:
        """Note the share that is done."""
        if self.first_share is None:
            self.first_share = share
        self.share, self.detail = min(share, 1.0), detail

    def end(self, now: float, *, failed: bool = False) -> None:
        """Note the end."""
        self.begin(now)
        self.ended, self.failed = now, failed
        if not failed:
            self.report(1.0)

    @property
    def gained(self) -> float:
        """The share that was done since the stage began."""
        return self.share - (self.first_share or 0.0) if self.began is not None else 0.0

    def seconds_left(self, now: float) -> float | None:
        """Estimate the time left by the stage's own speed; None if it is not running or has done too little."""
        if self.began is None or self.ended is not None or self.gained < SMALLEST_SHARE:
            return None
        return (now - self.began) * (1 - self.share) / self.gained

    def status(self, now: float) -> str:
        """Say how far the stage is."""
        if self.ended is not None:
            taken = duration(self.ended - self.began)
            return f"failed after {taken}" if self.failed else taken
        if self.began is None:
            return "finished earlier" if self.share == 1 else ""
        left = self.seconds_left(now)
        parts = [self.detail, "" if left is None else f"{duration(max(1.0, round(left)))} left"]
        return ", ".join(filter(None, parts)) or "running"


def time_left(stages: Sequence[Stage], now: float) -> float:
    """Estimate the time until all stages are done.

    What is left, as expected, is divided by the speed so far: the expected time of what was done per second. For
    `TRUSTED` seconds more than have passed, work counts as done as fast as expected, so that the first seconds do not
    decide. It is never less than what a running stage still takes.
    """
    began = min((stage.began for stage in stages if stage.began is not None), default=now)
    done = sum(stage.expected * stage.gained for stage in stages)
    left = sum(stage.expected * (1 - stage.share) for stage in stages)
    running = (stage.seconds_left(now) or 0.0 for stage in stages)
    return max(left * (now - began + TRUSTED) / (done + TRUSTED), *running, 0.0)
