"""The training log: `training.jsonl`, and TensorBoard's curves if TensorBoard is installed."""

import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nmtcore.errors import LineError, explain_os_errors
from nmtcore.files import read_lines, write_lines
from nmtcore.layout import file_name

TRANSLATION_LOSS = "loss/translation"
"""The key of a training line by which systems are compared; objectives are not comparable, as components add terms."""


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


class History:
    """The open log `folder/training.jsonl`; opening it deletes the lines about updates after `update`.

    A killed process has lost those updates; the next attempt repeats them.

    A training line has these keys:
    - "update": the last update of the line; "updates": how many updates it covers; "epoch" (from 1)
    - "loss": the objective with label smoothing, a mean over updates
    - "loss/translation": the translation's smoothed loss; "nll" and "perplexity": without smoothing; these are means
      over target tokens, null without any
    - "loss/{name}": a component's loss, a mean over the words or tokens that it supervises; "weight/{name}": its
      factor in the objective, at the last update of the line
    - "rate": the learning rate; "gradient": the mean gradient norm
    - "tokens": target tokens without padding; "tokens_per_second"; "seconds": since the start, over all attempts

    A validation line has "update", "epoch", "validation" (the scores), "best" (whether they are the best so far) and
    "seconds".
    """

    def __init__(self, folder: Path, *, update: int, log: Callable[[str], None] = print) -> None:
        self._log = log
        self.path = folder / file_name("history")
        records = [record for record in self._readable() if record["update"] <= update]
        write_lines(self.path, [json.dumps(record) for record in records])
        with explain_os_errors(self.path):
            self._file = open(self.path, "a", encoding="utf-8")  # noqa: SIM115 (closed by close)
        self._board = _open_tensorboard(folder / "tensorboard")
        # Points get the times they would have if training had never paused.
        self._began = time.time() - (records[-1]["seconds"] if records else 0)
        for record in records:
            self._add_points(record)

    def _readable(self) -> list[dict[str, Any]]:
        """Read the lines of earlier attempts; a damaged one, such as the last of a killed process, is dropped."""
        if not self.path.exists():
            return []
        records = [_record(line) for line in self.path.read_bytes().split(b"\n") if line]
        if None in records[:-1]:
            damaged = records[:-1].count(None)
            self._log(f"{self.path} is damaged: {damaged} of its {len(records)} lines cannot be read and are dropped.")
        return [record for record in records if record is not None]

    def write(self, record: dict[str, Any]) -> None:
        """Add a line; replace numbers that are not finite by null."""
        with explain_os_errors(self.path):
            self._file.write(json.dumps(_finite_or_null(record)) + "\n")
            self._file.flush()
        self._add_points(_finite_or_null(record))

    def _add_points(self, record: dict[str, Any]) -> None:
        """Add the values of a line to TensorBoard's curves."""
        if self._board is None:
            return
        with explain_os_errors(self.path):
            for name, value in _curves(record):
                self._board.add_scalar(name, value, record["update"], walltime=self._began + record["seconds"])

    def publish(self, folder: Path) -> None:
        """Copy the log to `folder`, where Snakemake deletes it before each attempt."""
        write_lines(folder / file_name("history"), read_lines(self.path))

    def close(self) -> None:
        """Close the log and TensorBoard's event file."""
        with explain_os_errors(self.path):
            self._file.close()
            if self._board is not None:
                self._board.close()


def _record(line: bytes) -> dict[str, Any] | None:
    """Read a line as this class writes it; None if it is damaged."""
    try:
        record = json.loads(line)
        numbers = {**record, **record.get("validation", {}), "best": 0, "validation": 0}.values()
        complete = isinstance(record["update"], int) and isinstance(record["seconds"], int | float)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return record if complete and all(value is None or isinstance(value, int | float) for value in numbers) else None


def _finite_or_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite_or_null(inner) for key, inner in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _curves(record: dict[str, Any]) -> list[tuple[str, float]]:
    if "validation" in record:
        curves = {f"validation/{name}": value for name, value in record["validation"].items()}
    else:
        hidden = ("update", "updates", "seconds")
        curves = {f"training/{name}": value for name, value in record.items() if name not in hidden}
    return [(name, value) for name, value in curves.items() if value is not None]


def _open_tensorboard(folder: Path) -> Any:
    """Open a new event file if TensorBoard is installed, and empty earlier files: their points are written again.

    TensorBoard reads several files in the order of their names (seconds, machine, process), which may not be the order
    of writing, and drops points if steps go back. A running TensorBoard continues from an emptied file to the next, but
    not from a deleted one; `purge_step=0` makes it drop the points that it has already read.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    with explain_os_errors(folder):
        for path in folder.glob("events.out.tfevents.*"):
            path.write_bytes(b"")
        return SummaryWriter(str(folder), purge_step=0)
