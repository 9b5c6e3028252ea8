"""What training tells: sums over updates, read from the device only when a line of the log is due."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import torch

from nmtcore.errors import UserError
from nmtcore.training.distributed import World
from nmtcore.training.history import TRANSLATION_LOSS, History
from nmtcore.training.progress import Progress
from nmtcore.training.state import TrainingState
from nmtcore.training.validation import perplexity


@dataclass(frozen=True, kw_only=True)
class Update:
    """What one update leaves behind."""

    update: int
    epoch: int
    """From 1."""
    rate: float
    counts: Sequence[float]
    """Global, a term of the objective each."""
    sums: torch.Tensor
    """This device's, as `update.accumulate` gives them."""
    gradient: torch.Tensor
    """The norm of the global gradient."""


class Reporter:
    """Collects updates and writes them to the log; in all processes but the first it only takes part in the sums."""

    def __init__(
        self,
        folder: Path,
        *,
        names: Sequence[str],
        state: TrainingState,
        team: World,
        log: Callable[[str], None],
        terminal: TextIO | None = None,
    ) -> None:
        self._names = names
        self._team = team
        self._updates: list[Update] = []
        self._history = History(folder, update=state.update) if team.main else None
        self._progress = Progress(done=state.update, log=log, terminal=terminal) if team.main else None
        self.restart()

    def restart(self) -> None:
        """Measure speed from now on."""
        self._began = time.monotonic()

    def expect(self, updates: int) -> None:
        """Hear how many updates there will be."""
        if self._progress is not None:
            self._progress.expect(updates)

    def add(self, update: Update) -> None:
        """Note an update; reading its loss already would make the GPU wait each time."""
        self._updates.append(update)

    def flush(self, *, seconds: float) -> None:
        """Write a line about the updates since the last one; `seconds` since training began.

        Raises `UserError` where a loss or a gradient is not finite.
        """
        if not self._updates:
            return
        updates, self._updates = self._updates, []
        rows = torch.stack([u.sums for u in updates]).tolist()
        gradients = torch.stack([u.gradient for u in updates]).tolist()
        rows = self._summed(rows)
        for update, row, gradient in zip(updates, rows, gradients, strict=True):
            _check_finite(update, row[0], gradient)
        record = self._record(updates, rows, gradients) | {"seconds": round(seconds, 3)}
        self.restart()
        if self._history is not None:
            self._history.write(record)
            self._progress.show(record)

    def validation(self, state: TrainingState, *, better: bool) -> None:
        """Write a line about a validation."""
        if self._history is None:
            return
        place = {"update": state.update, "epoch": state.epoch + 1}
        self._history.write({**place, "validation": state.scores, "best": better, "seconds": round(state.seconds, 3)})
        scores = ", ".join(f"{name} {value:.4g}" for name, value in state.scores.items())
        self._progress.say(f"validation at update {state.update}: {scores}{' (the best so far)' if better else ''}")

    def publish(self, folder: Path) -> None:
        """Copy the log to `folder`."""
        if self._history is not None:
            self._history.publish(folder)

    def close(self) -> None:
        """Close the log and the bar."""
        if self._history is not None:
            self._history.close()
            self._progress.close()

    def _summed(self, rows: list[list[float]]) -> list[list[float]]:
        width = len(rows[0])
        flat = self._team.total([value for row in rows for value in row])
        return [flat[i : i + width] for i in range(0, len(flat), width)]

    def _record(self, updates: list[Update], rows: list[list[float]], gradients: list[float]) -> dict[str, Any]:
        loss, nll, translation, *terms = (sum(column) for column in zip(*rows, strict=True))
        tokens, *counts = (sum(column) for column in zip(*(u.counts for u in updates), strict=True))
        means = zip(self._names[1:], terms, counts, strict=True)
        return {
            "update": updates[-1].update,
            "updates": len(updates),
            "epoch": updates[-1].epoch,
            "loss": loss / len(updates),
            TRANSLATION_LOSS: translation / tokens if tokens else math.nan,
            "nll": nll / tokens if tokens else math.nan,
            "perplexity": perplexity(nll / tokens) if tokens else math.nan,
            **{f"loss/{name}": total / max(count, 1) for name, total, count in means},
            "rate": updates[-1].rate,
            "gradient": sum(gradients) / len(gradients),
            "tokens": int(tokens),
            "tokens_per_second": round(tokens / max(time.monotonic() - self._began, 1e-9), 1),
        }


def _check_finite(update: Update, loss: float, gradient: float) -> None:
    if math.isfinite(loss) and math.isfinite(gradient):
        return
    what = "gradient" if math.isfinite(loss) else "loss"
    raise UserError(
        f"Training diverged: the {what} is not finite at update {update.update} (learning rate {update.rate:.3g}). "
        "Lower training.schedule.peak, lengthen training.schedule.warmup or set training.clip_norm; "
        "earlier checkpoints are as they were."
    )
