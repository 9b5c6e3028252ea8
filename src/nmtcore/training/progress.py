"""Training progress: a bar on a terminal, a line every ten seconds in a log."""

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, TextIO

PERIOD = 10.0
"""Seconds between two progress lines in a log."""


class Progress:
    """Shows the update, the expected number of updates, target tokens per second and the time left.

    If validation scores decide when training ends, it shows the time to the next validation instead.
    The bar is drawn on `terminal` (default: standard error) if that is a terminal and tqdm is installed. Lines go to
    `log`, unless the bar is on standard error, where they would mix with it.
    """

    def __init__(self, *, done: int, log: Callable[[str], None], terminal: TextIO | None = None) -> None:
        self._total: int | None = None
        self._validation_every: int | None = None
        self._first = self._done = done
        self._log = log
        self._began = self._last_line = time.monotonic()
        self._bar = _open_bar(done, terminal or sys.stderr)
        self._logs_lines = self._bar is None or terminal not in (None, sys.stderr)

    def set_total(self, updates: int) -> None:
        """Set the expected number of updates (an estimate if the number of epochs is fixed)."""
        self._total = updates
        if self._bar is not None:
            self._bar.total = updates

    def expect_validations(self, *, every: int) -> None:
        """Show the time to the next validation, one after every `every` updates, as long as no total is set."""
        self._validation_every = every

    def show(self, record: Mapping[str, Any]) -> None:
        """Show the progress that a training line of the log (`history.History`) reports."""
        update, now = record["update"], time.monotonic()
        quality = f"loss {record['loss']:.3f}"
        if record["tokens"]:
            quality = f"perplexity {record['perplexity']:.2f}, {record['tokens_per_second']:,.0f} tokens/s"
        status = f"epoch {record['epoch']}, {quality}"
        if self._bar is not None:
            self._bar.set_postfix_str(status, refresh=False)
            self._bar.update(update - self._done)
        if self._logs_lines and now - self._last_line >= PERIOD:
            self._last_line = now
            total = f" of {self._total}" if self._total else ""
            self._log(f"update {update}{total}, {status}{self._time_left(update, now)}")
        self._done = update

    def write_line(self, line: str) -> None:
        """Write a line to the log, above the bar if there is one."""
        if self._bar is not None:
            self._bar.clear()
        self._log(line)
        if self._bar is not None:
            self._bar.refresh()

    def close(self) -> None:
        """Close the bar, which stays on the terminal."""
        if self._bar is not None:
            self._bar.close()

    def _time_left(self, update: int, now: float) -> str:
        done = update - self._first
        if not done:
            return ""
        seconds_per_update = (now - self._began) / done
        if self._total:
            return f", {duration(seconds_per_update * max(0, self._total - update))} left"
        if self._validation_every:
            remaining = self._validation_every - update % self._validation_every
            return f", {duration(seconds_per_update * remaining)} to the next validation"
        return ""


def duration(seconds: float) -> str:
    """Write seconds for a reader: 0.4 s, 42 s, 3 min 5 s, 14 min, 2 h 7 min."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    if seconds < 599.5:
        return _two_units(round(seconds), "min", "s")
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else _two_units(minutes, "h", "min")


def _two_units(amount: int, large: str, small: str) -> str:
    """Write an amount in two units, of which the larger is 60 of the smaller; leave out 0 of the smaller."""
    whole, rest = divmod(amount, 60)
    return f"{whole} {large}" + (f" {rest} {small}" if rest else "")


def _open_bar(done: int, terminal: TextIO) -> Any:
    """Open a tqdm bar if `terminal` is a terminal and tqdm is installed."""
    if not terminal.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(initial=done, unit="update", dynamic_ncols=True, file=terminal)
