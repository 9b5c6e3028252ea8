"""What happened, for people and programs: `training.jsonl`, and TensorBoard where it is installed."""

import json
import math
from pathlib import Path
from typing import Any

from nmtcore.errors import explained
from nmtcore.files import read_lines, write_lines

NAME = "training.jsonl"


class History:
    """Appends to `folder/training.jsonl`; lines about updates after `update` (lost with a killed process) are cut.

    A line of training has "updates" (how many it sums up, the last one being "update"), "epoch", "loss" (the
    objective, smoothed, a mean over updates), "nll" and "perplexity" (a mean over target tokens; null without any), a
    "loss/{name}" for every component (a mean over what it supervises), "rate", "gradient" (mean norm), "tokens" (target
    tokens, without padding), "tokens_per_second", "seconds" (since the start, over all attempts). A line of validation
    has "validation" (its scores) and "best" (whether they are the best so far).
    """

    def __init__(self, folder: Path, *, update: int) -> None:
        self.path = folder / NAME
        if self.path.exists():
            write_lines(self.path, [line for line in read_lines(self.path) if _belongs(line, update)])
        with explained(self.path):
            self._file = open(self.path, "a", encoding="utf-8")  # noqa: SIM115 (closed by close)
        self._board = _board(folder / "tensorboard", update)

    def write(self, record: dict[str, Any]) -> None:
        """Add a line; numbers that are not finite become null."""
        with explained(self.path):
            self._file.write(json.dumps(_finite(record)) + "\n")
            self._file.flush()
        if self._board is not None:
            for name, value in _curves(record):
                self._board.add_scalar(name, value, record["update"])

    def publish(self, folder: Path) -> None:
        """Copy the log to `folder` (where a workflow may delete it before an attempt)."""
        write_lines(folder / NAME, read_lines(self.path))

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
        return [(f"validation/{name}", value) for name, value in record["validation"].items()]
    hidden = ("update", "updates", "seconds")
    return [(f"training/{name}", value) for name, value in record.items() if name not in hidden]


def _board(folder: Path, update: int) -> Any:
    """Open TensorBoard's log where TensorBoard is installed (it shows no point after `update` from before)."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=update + 1)
