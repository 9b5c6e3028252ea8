"""How far training is: a bar on a terminal, a line every ten seconds in a log."""

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, TextIO

PERIOD = 10.0
"""Seconds between two lines in a log."""


class Progress:
    """Shows updates done of those expected, target tokens per second and the time left.

    A bar goes to `terminal` (standard error) if that is one and tqdm is installed; lines go to `log`, unless the bar
    is on standard error itself, where they would meet.
    """

    def __init__(self, *, done: int, log: Callable[[str], None], terminal: TextIO | None = None) -> None:
        self._expected: int | None = None
        self._first = self._done = done
        self._log = log
        self._began = self._said = time.monotonic()
        self._bar = _bar(done, terminal or sys.stderr)
        self._lines = self._bar is None or terminal not in (None, sys.stderr)

    def expect(self, updates: int) -> None:
        """Hear how many updates there will be (an estimate, where epochs end training)."""
        self._expected = updates
        if self._bar is not None:
            self._bar.total = updates

    def show(self, record: Mapping[str, Any]) -> None:
        """Tell where training is, from a line of the log (`history.History`)."""
        update, now = record["update"], time.monotonic()
        learnt = f"loss {record['loss']:.3f}"
        if record["tokens"]:
            learnt = f"perplexity {record['perplexity']:.2f}, {record['tokens_per_second']:,.0f} tokens/s"
        told = f"epoch {record['epoch']}, {learnt}"
        if self._bar is not None:
            self._bar.set_postfix_str(told, refresh=False)
            self._bar.update(update - self._done)
        if self._lines and now - self._said >= PERIOD:
            self._said = now
            of = f" of {self._expected}" if self._expected else ""
            self._log(f"update {update}{of}, {told}{self._left(update, now)}")
        self._done = update

    def say(self, line: str) -> None:
        """Write a line, above the bar where there is one."""
        if self._bar is not None:
            self._bar.clear()
        self._log(line)
        if self._bar is not None:
            self._bar.refresh()

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()

    def _left(self, update: int, now: float) -> str:
        done = update - self._first
        if not self._expected or not done:
            return ""
        return f", {duration((now - self._began) / done * max(0, self._expected - update))} left"


def duration(seconds: float) -> str:
    """Write seconds as people do: 0.4 s, 42 s, 3 min 5 s, 14 min, 2 h 7 min."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    if seconds < 599.5:
        return _two(round(seconds), "min", "s")
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else _two(minutes, "h", "min")


def _two(amount: int, large: str, small: str) -> str:
    """Write an amount in two units, the larger one being 60 of the smaller; 0 of the smaller is left out."""
    whole, rest = divmod(amount, 60)
    return f"{whole} {large}" + (f" {rest} {small}" if rest else "")


def _bar(done: int, terminal: TextIO) -> Any:
    """Make tqdm's bar where somebody watches and tqdm is installed."""
    if not terminal.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(initial=done, unit="update", dynamic_ncols=True, file=terminal)
