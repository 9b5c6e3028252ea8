"""What happened, for people and programs: `training.jsonl`, and TensorBoard where it is installed."""

import json
import math
import time
from pathlib import Path
from typing import Any

from nmtcore.errors import explained
from nmtcore.files import read_lines, write_lines
from nmtcore.layout import file_name

TRANSLATION_LOSS = "loss/translation"
"""The field of a line of training by which systems are compared: objectives differ by what components add."""


class History:
    """Appends to `folder/training.jsonl`; lines about updates after `update` (lost with a killed process) are cut.

    A line of training has "updates" (how many it sums up, the last one being "update"), "epoch", "loss" (the
    objective, with label smoothing, a mean over updates), "loss/translation" (the translation's part of it, smoothed
    too), "nll" and "perplexity" (not smoothed), these three means over target tokens (null without any), a
    "loss/{name}" for every component (a mean over what it supervises), "rate", "gradient" (mean norm), "tokens" (target
    tokens, without padding), "tokens_per_second", "seconds" (since the start, over all attempts). A line of validation
    has "validation" (its scores) and "best" (whether they are the best so far).
    """

    def __init__(self, folder: Path, *, update: int) -> None:
        self.path = folder / file_name("history")
        kept = []
        if self.path.exists():
            kept = [line for line in read_lines(self.path) if _belongs(line, update)]
            write_lines(self.path, kept)
        with explained(self.path):
            self._file = open(self.path, "a", encoding="utf-8")  # noqa: SIM115 (closed by close)
        self._board = _board(folder / "tensorboard")
        records = [json.loads(line) for line in kept]
        # Points get times as if earlier attempts had trained without a pause until now.
        self._began = time.time() - (records[-1]["seconds"] if records else 0)
        for record in records:
            self._draw(record)

    def write(self, record: dict[str, Any]) -> None:
        """Add a line; numbers that are not finite become null."""
        with explained(self.path):
            self._file.write(json.dumps(_finite(record)) + "\n")
            self._file.flush()
        self._draw(_finite(record))

    def _draw(self, record: dict[str, Any]) -> None:
        """Add a line's points to TensorBoard's curves."""
        if self._board is not None:
            for name, value in _curves(record):
                self._board.add_scalar(name, value, record["update"], walltime=self._began + record["seconds"])

    def publish(self, folder: Path) -> None:
        """Copy the log to `folder` (where a workflow may delete it before an attempt)."""
        write_lines(folder / file_name("history"), read_lines(self.path))

    def close(self) -> None:
        """Close the files."""
        self._file.close()
        if self._board is not None:
            self._board.close()


def _belongs(line: str, update: int) -> bool:
    try:
        return json.loads(line)["update"] <= update
    except (ValueError, KeyError, TypeError):
        return False


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _curves(record: dict[str, Any]) -> list[tuple[str, float]]:
    if "validation" in record:
        curves = {f"validation/{name}": value for name, value in record["validation"].items()}
    else:
        hidden = ("update", "updates", "seconds")
        curves = {f"training/{name}": value for name, value in record.items() if name not in hidden}
    return [(name, value) for name, value in curves.items() if value is not None]


def _board(folder: Path) -> Any:
    """Open a new event file where TensorBoard is installed, and empty earlier ones: their points are written again.

    TensorBoard reads several files in the order of their names (seconds, machine, process), which may not be the order
    of writing, and drops points where steps go back. A running TensorBoard goes on from an emptied file to the next,
    but not from a deleted one; `purge_step` 0 makes it drop the points that it has.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    with explained(folder):
        for path in folder.glob("events.out.tfevents.*"):
            path.write_bytes(b"")
    return SummaryWriter(str(folder), purge_step=0)
