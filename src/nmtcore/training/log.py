"""The log of a training: `training.jsonl`, and lines of progress."""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from nmtcore.errors import LineError, explain_os_errors
from nmtcore.files import read_lines, write_lines
from nmtcore.layout import file_name

TRANSLATION_LOSS = "loss/translation"
"""The key of a training line by which systems are compared; objectives are not comparable, as components add terms."""

PERIOD = 10.0
"""Seconds between two lines of progress in a log."""


def read_history(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a training log. Raises `LineError` for a line that is no JSON object."""
    for number, line in enumerate(read_lines(path), start=1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:  # also of endless numbers and nesting
            raise LineError(path, number, "this is not JSON: delete the file and train again.") from error
        if not isinstance(record, dict):
            raise LineError(path, number, "this is no line of a training log: delete the file and train again.")
        yield record


class TrainingLog:
    """The open log `folder/training.jsonl`; opening it deletes the lines about updates after `update`.

    A killed process has lost those updates; the next attempt repeats them, and validations after update `validated`.
    `log` gets messages.

    A training line has these keys:
    - "update": the last update of the line; "updates": how many updates it covers; "epoch" (from 1)
    - "loss": the objective with label smoothing, a mean over updates
    - "loss/translation": the translation's smoothed loss; "nll" and "perplexity": without smoothing; these are means
      over target tokens, null without any
    - "loss/{name}": a component's loss, a mean over the words or tokens that it supervises; "weight/{name}": its
      factor in the objective, at the last update of the line
    - "rate": the learning rate; "gradient": the mean gradient norm
    - "tokens": target tokens without padding; "tokens_per_second"; "seconds": since the start, over all attempts
    - "peak_memory_bytes": of tensors on the GPU (with several, the first), or of the process on a CPU; on a GPU,
      "share_of_peak": the operations per second of products with weights (`update_operations`) divided by those of a
      large product that was measured when training began

    A validation line has "update" and "epoch", those of the last update; "validation" (the scores), "best" (whether
    they are the best so far) and "seconds".
    """

    def __init__(
        self,
        folder: Path,
        *,
        update: int = 0,
        validated: int = 0,
        log: Callable[[str], None] = print,
    ) -> None:
        self.path = folder / file_name("history")
        records = [
            record
            for record in self._whole_lines()
            if record["update"] <= (validated if "validation" in record else update)
        ]
        write_lines(self.path, [json.dumps(record) for record in records])
        with explain_os_errors(self.path):
            self._file = open(self.path, "a", encoding="utf-8")  # noqa: SIM115 (closed by close)
        self.total: int | None = None
        """The expected number of updates, an estimate if the number of epochs is fixed; None if it is unknown."""
        self._first, self._log, self._began = update, log, time.monotonic()
        self._last_line = self._began

    def _whole_lines(self) -> Iterator[dict[str, Any]]:
        """Yield the lines of earlier attempts but those that a killed process has cut."""
        for line in self.path.read_bytes().split(b"\n") if self.path.exists() else ():
            with suppress(ValueError):
                yield json.loads(line)

    def write(self, record: Mapping[str, Any]) -> None:
        """Add a line; replace numbers that are not finite by null."""
        with explain_os_errors(self.path):
            self._file.write(json.dumps(_finite_or_null(record)) + "\n")
            self._file.flush()

    def write_updates(self, record: Mapping[str, Any]) -> None:
        """Add a training line; every ten seconds, log the update, speed and, if it can be known, the time left."""
        self.write(record)
        now = time.monotonic()
        if now - self._last_line < PERIOD:
            return
        self._last_line = now
        quality, expected = f"loss {record['loss']:.3f}", ""
        if record["tokens"]:
            quality = f"perplexity {record['perplexity']:.2f}, {record['tokens_per_second']:,.0f} tokens/s"
        if self.total is not None:
            seconds_per_update = (now - self._began) / (record["update"] - self._first)
            quality += f", {duration(seconds_per_update * max(0, self.total - record['update']))} left"
            expected = f" of {self.total}"
        quality += f", {record['peak_memory_bytes'] / 1e9:.1f} GB of memory"
        if "share_of_peak" in record:
            quality += f", {100 * record['share_of_peak']:.0f} % of the GPU's peak"
        self._log(f"update {record['update']}{expected}, epoch {record['epoch']}, {quality}")

    def write_validation(self, record: Mapping[str, Any]) -> None:
        """Add a validation line, and log it."""
        self.write(record)
        scores = ", ".join(f"{name} {value:.4g}" for name, value in record["validation"].items())
        best = " (the best so far)" if record["best"] else ""
        self._log(f"validation at update {record['update']}: {scores}{best}")

    def publish(self, folder: Path) -> None:
        """Copy the log to `folder`, where Snakemake deletes it before each attempt."""
        write_lines(folder / self.path.name, read_lines(self.path))

    def close(self) -> None:
        """Close the log."""
        with explain_os_errors(self.path):
            self._file.close()


def _finite_or_null(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite_or_null(inner) for key, inner in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
