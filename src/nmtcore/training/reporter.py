"""Reports of training progress: sums over updates, read from the device only when a line of the log is due."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import torch
from torch import Tensor

from nmtcore.errors import UserError
from nmtcore.model.losses import TRANSLATION
from nmtcore.training.log import TRANSLATION_LOSS, Progress, TrainingLog
from nmtcore.training.state import TrainingState
from nmtcore.training.validation import perplexity
from nmtcore.training.world import World


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
    sums: dict[str, Tensor]
    """The sums of this device (`accumulate_gradients`)."""
    gradient_norm: Tensor
    """The norm of the gradient over all devices."""


class Reporter:
    """Collects updates and writes them to the log; outside the first process, it only contributes to the sums."""

    def __init__(
        self, folder: Path, *, state: TrainingState, world: World, log: Callable[[str], None], terminal: TextIO | None
    ) -> None:
        self._world = world
        self._updates: list[FinishedUpdate] = []
        self._log = None
        if world.is_main:
            self._log = TrainingLog(folder, update=state.update, validated=state.validated, log=log)
        self.progress = Progress(done=state.update, log=log, terminal=terminal if world.is_main else None)
        self.restart_clock()

    def restart_clock(self) -> None:
        """Measure tokens per second from now on."""
        self._began = time.monotonic()

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
        keys = list(updates[0].sums)
        flat = self._world.sum(torch.stack([update.sums[key] for update in updates for key in keys]).tolist())
        sums = [dict(zip(keys, flat[i : i + len(keys)], strict=True)) for i in range(0, len(flat), len(keys))]
        norms = torch.stack([update.gradient_norm for update in updates]).tolist()
        for update, update_sums, norm in zip(updates, sums, norms, strict=True):
            for quantity, value in (("loss", update_sums["objective"]), ("gradient", norm)):
                if not math.isfinite(value):
                    raise divergence(f"the {quantity} is not finite", update=update.number, rate=update.rate)
        record = self._training_record(updates, sums, norms) | {"seconds": round(seconds, 3)}
        self.restart_clock()
        if self._log is not None:
            self._log.write(record)
            self.progress.show(record)

    def add_validation(self, state: TrainingState, *, better: bool) -> None:
        """Write a log line about the validation whose scores are in `state`."""
        if self._log is None:
            return
        position = {"update": state.update, "epoch": state.epoch + 1}
        scores = {"validation": state.scores, "best": better}
        self._log.write({**position, **scores, "seconds": round(state.seconds, 3)})
        listed = ", ".join(f"{name} {value:.4g}" for name, value in state.scores.items())
        best = " (the best so far)" if better else ""
        self.progress.write_line(f"validation at update {state.update}: {listed}{best}")
        self.restart_clock()

    def publish(self, folder: Path) -> None:
        """Copy the log to `folder`."""
        if self._log is not None:
            self._log.publish(folder)

    def close(self) -> None:
        """Close the log and the line of progress."""
        if self._log is not None:
            self._log.close()
            self.progress.close()

    def _training_record(
        self, updates: Sequence[FinishedUpdate], sums: Sequence[Mapping[str, float]], norms: Sequence[float]
    ) -> dict[str, Any]:
        """Make a training line of the log (`TrainingLog`), without its seconds."""
        last = updates[-1]
        counts = {name: sum(update.counts[name] for update in updates) for name in last.counts}
        totals = {key: sum(update_sums[key] for update_sums in sums) for key in sums[0]}
        losses = {f"loss/{name}": totals[f"loss/{name}"] / max(count, 1) for name, count in counts.items()}
        tokens, nll = counts[TRANSLATION], math.nan
        if tokens:
            nll = totals["nll"] / tokens
        else:
            losses[TRANSLATION_LOSS] = math.nan
        return {
            "update": last.number,
            "updates": len(updates),
            "epoch": last.epoch,
            "loss": totals["objective"] / len(updates),
            "nll": nll,
            "perplexity": perplexity(nll) if tokens else math.nan,
            **losses,
            **{f"weight/{name}": weight for name, weight in last.weights.items()},
            "rate": last.rate,
            "gradient": sum(norms) / len(norms),
            "tokens": int(tokens),
            "tokens_per_second": round(tokens / max(time.monotonic() - self._began, 1e-9), 1),
        }


def divergence(problem: str, *, update: int, rate: float) -> UserError:
    """Make the error that says that training diverged."""
    return UserError(
        f"Training diverged: {problem} at update {update} (learning rate {rate:.3g}). Lower training.schedule.peak, "
        "raise training.schedule.warmup or set training.clip_norm; earlier checkpoints are intact."
    )
