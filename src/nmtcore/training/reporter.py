"""Reports of training progress: sums over updates, read from the device only when a log line is due."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import torch

from nmtcore.errors import UserError
from nmtcore.model.losses import TRANSLATION
from nmtcore.training.distributed import World
from nmtcore.training.history import TRANSLATION_LOSS, History
from nmtcore.training.loss_sums import UpdateSums
from nmtcore.training.progress import Progress
from nmtcore.training.state import TrainingState
from nmtcore.training.validation import perplexity


@dataclass(frozen=True, kw_only=True)
class FinishedUpdate:
    """What the log needs of one update."""

    number: int
    """The update's number, from 1."""
    epoch: int
    """The update's epoch, from 1."""
    rate: float
    weights: dict[str, float]
    """The factor of each component's mean loss in the objective, by the component's name."""
    counts: dict[str, float]
    """The count of each term of the objective, over all devices."""
    sums: torch.Tensor
    """The sums of this device, packed by `UpdateSums.pack`."""
    gradient_norm: torch.Tensor
    """The norm of the gradient over all devices."""


class Reporter:
    """Collects updates and writes them to the log; outside the first process, it only contributes to the sums."""

    def __init__(
        self,
        folder: Path,
        *,
        names: Sequence[str],
        state: TrainingState,
        world: World,
        log: Callable[[str], None],
        terminal: TextIO | None = None,
    ) -> None:
        self._names = names
        self._world = world
        self._updates: list[FinishedUpdate] = []
        self._history = History(folder, update=state.update) if world.is_main else None
        self._progress = Progress(done=state.update, log=log, terminal=terminal) if world.is_main else None
        self.restart_clock()

    def restart_clock(self) -> None:
        """Measure tokens per second from now on."""
        self._began = time.monotonic()

    def set_total(self, updates: int) -> None:
        """Set the expected number of updates."""
        if self._progress is not None:
            self._progress.set_total(updates)

    def expect_validations(self, *, every: int) -> None:
        """Set the number of updates between validations, for training whose number of updates they decide."""
        if self._progress is not None:
            self._progress.expect_validations(every=every)

    def add(self, update: FinishedUpdate) -> None:
        """Collect an update; reading its loss right away would make every update wait for the GPU."""
        self._updates.append(update)

    def flush(self, *, seconds: float) -> None:
        """Write a log line about the collected updates; `seconds` is the time since training began.

        Raises `UserError` if a loss or a gradient is not finite.
        """
        if not self._updates:
            return
        updates, self._updates = self._updates, []
        vectors = torch.stack([update.sums for update in updates]).tolist()
        norms = torch.stack([update.gradient_norm for update in updates]).tolist()
        sums = self._sums_of_all_processes(vectors)
        for update, update_sums, norm in zip(updates, sums, norms, strict=True):
            _check_finite(update, update_sums.objective, norm)
        record = self._training_record(updates, sums, norms) | {"seconds": round(seconds, 3)}
        self.restart_clock()
        if self._history is not None:
            self._history.write(record)
            self._progress.show(record)

    def add_validation(self, state: TrainingState, *, better: bool) -> None:
        """Write a log line about the validation whose scores are in `state`."""
        if self._history is None:
            return
        position = {"update": state.update, "epoch": state.epoch + 1}
        scores = {"validation": state.scores, "best": better}
        self._history.write({**position, **scores, "seconds": round(state.seconds, 3)})
        listed = ", ".join(f"{name} {value:.4g}" for name, value in state.scores.items())
        best = " (the best so far)" if better else ""
        self._progress.write_line(f"validation at update {state.update}: {listed}{best}")

    def publish(self, folder: Path) -> None:
        """Copy the log to `folder`."""
        if self._history is not None:
            self._history.publish(folder)

    def close(self) -> None:
        """Close the log and the progress bar."""
        if self._history is not None:
            self._history.close()
            self._progress.close()

    def _sums_of_all_processes(self, vectors: list[list[float]]) -> list[UpdateSums]:
        """Add up the packed sums of each update over all processes, in one exchange."""
        width = len(vectors[0])
        flat = self._world.sum([value for vector in vectors for value in vector])
        return [UpdateSums.unpack(flat[i : i + width], self._names) for i in range(0, len(flat), width)]

    def _training_record(
        self, updates: list[FinishedUpdate], sums: list[UpdateSums], gradient_norms: list[float]
    ) -> dict[str, Any]:
        nll = sum(update_sums.nll for update_sums in sums)
        terms = {name: sum(update_sums.terms[name] for update_sums in sums) for name in self._names}
        counts = {name: sum(update.counts[name] for update in updates) for name in self._names}
        tokens = counts[TRANSLATION]
        return {
            "update": updates[-1].number,
            "updates": len(updates),
            "epoch": updates[-1].epoch,
            "loss": sum(update_sums.objective for update_sums in sums) / len(updates),
            TRANSLATION_LOSS: terms[TRANSLATION] / tokens if tokens else math.nan,
            "nll": nll / tokens if tokens else math.nan,
            "perplexity": perplexity(nll / tokens) if tokens else math.nan,
            **{f"loss/{name}": terms[name] / max(counts[name], 1) for name in self._names if name != TRANSLATION},
            **{f"weight/{name}": weight for name, weight in updates[-1].weights.items()},
            "rate": updates[-1].rate,
            "gradient": sum(gradient_norms) / len(gradient_norms),
            "tokens": int(tokens),
            "tokens_per_second": round(tokens / max(time.monotonic() - self._began, 1e-9), 1),
        }


def _check_finite(update: FinishedUpdate, loss: float, gradient_norm: float) -> None:
    if math.isfinite(loss) and math.isfinite(gradient_norm):
        return
    quantity = "gradient" if math.isfinite(loss) else "loss"
    raise divergence(f"the {quantity} is not finite", update=update.number, rate=update.rate)


def divergence(problem: str, *, update: int, rate: float) -> UserError:
    """Make the error that says that training diverged."""
    return UserError(
        f"Training diverged: {problem} at update {update} (learning rate {rate:.3g}). Lower training.schedule.peak, "
        "raise training.schedule.warmup or set training.clip_norm; earlier checkpoints are intact."
    )
