"""Training a run: what the loop (loop.py) needs, and the weights that it ends with."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import torch
from torch import nn

from nmtcore.config.runs import RunSettings
from nmtcore.config.training import BatchSettings, TrainingSettings
from nmtcore.features.examples import Examples
from nmtcore.model.device import explain_out_of_memory
from nmtcore.training.checkpoints import Checkpoints
from nmtcore.training.distributed import World, join_world, silent
from nmtcore.training.lock import Lock, locked
from nmtcore.training.loop import Trainer
from nmtcore.training.reporter import Reporter
from nmtcore.training.resume import Running, resume
from nmtcore.training.signals import Signals
from nmtcore.training.state import TrainingState
from nmtcore.training.training_data import TrainingData, prepare_training_data
from nmtcore.training.update import loss_names
from nmtcore.training.validation import Validate


@dataclass(frozen=True, kw_only=True)
class TrainingResult:
    """How training went; the model has its final weights."""

    updates: int
    epochs: int
    """Whole ones."""
    best_score: float | None
    """By the recipe's metric, perplexity with a minus: more is better."""
    best_update: int | None
    scores: dict[str, float]
    """Of the last validation."""
    seconds: float
    """Over all attempts."""
    stopped: str
    """Why training ended."""
    left_out: int
    """Training pairs (or sentences of treebanks, where there is nothing else) over the maximum length."""


def train(
    run: RunSettings,
    model: nn.Module,
    train: Examples | None,
    dev: Examples,
    *,
    treebank: Examples | None = None,
    folder: Path,
    checkpoints: Path,
    validate: Validate | None = None,
    device: torch.device | str = "cpu",
    log: Callable[[str], None] = print,
    terminal: TextIO | None = None,
) -> TrainingResult:
    """Train a model to the end, going on from the newest checkpoint in `checkpoints` (see `checkpoint_folder`).

    `treebank` has the sentences of the run's treebanks (no targets are looked at); where they are all that it is
    trained on, `train` is None.

    The log is written in `checkpoints` and copied to `folder` at the end. `validate` gives at least the recipe's
    metric, unless that is perplexity. `log` hears what happens; a bar is drawn on `terminal` (standard error) if that
    is one. Under torchrun every process calls this with the same arguments.

    Raises `Interrupted` if a signal stops training (a checkpoint is written first), and `UserError` if there is nothing
    to train on, training diverges, a GPU's memory is full, another process ended (`OtherProcessEnded`), or another
    trainer holds the folder for too long.
    """
    if validate is None and run.training.validation.metric != "perplexity":
        raise ValueError(f"the metric {run.training.validation.metric} needs `validate`")
    signals, memory = Signals(), explain_out_of_memory(_less_at_once(run.training.batch))
    with memory, join_world(device) as team, _alone(team, checkpoints, log) as lock, signals.catching():
        log = log if team.main else silent
        if run.training.precision == "bf16" and team.device.type != "cuda":
            log("This device trains in fp32: bf16 is for GPUs.")
        data = prepare_training_data(run, model, train, dev, log, treebank=treebank)
        store = Checkpoints(checkpoints, log=log)
        running = resume(run, model, store, team)
        if running.state.update:
            log(f"Going on from the checkpoint of update {running.state.update}.")
        told = {"names": loss_names(model.components), "state": running.state, "team": team}
        with closing(Reporter(checkpoints, **told, log=log, terminal=terminal)) as reporter:
            parts = {"running": running, "store": store, "team": team, "signals": signals, "lock": lock}
            Trainer(run=run, data=data, **parts, reporter=reporter, validate=validate).train()
            log(f"Training ended after {running.state.update} updates: {running.state.stopped}.")
            reporter.publish(folder)
        _choose_weights(run.training, running, store)
        team.wait()
        return _result(running.state, data)


def _less_at_once(batch: BatchSettings) -> str:
    now = f"the whole batch, {batch.size}" if batch.device_size is None else batch.device_size
    return (
        f"Lower training.batch.device_size (now {now} {batch.unit}): batches stay as they are, in smaller pieces. "
        "Then start again, and training goes on from its last checkpoint."
    )


def _choose_weights(settings: TrainingSettings, running: Running, store: Checkpoints) -> None:
    """Load the weights that the recipe keeps; the last ones are there already."""
    state = running.state
    if settings.keep == "best" and state.best_update not in (None, state.update):
        store.load_average(running.model, [state.best_update])
    elif settings.keep == "average" and state.window:
        store.load_average(running.model, state.window)


def _result(state: TrainingState, data: TrainingData) -> TrainingResult:
    return TrainingResult(
        updates=state.update,
        epochs=state.epoch,
        best_score=state.best_score,
        best_update=state.best_update,
        scores=state.scores,
        seconds=state.seconds,
        stopped=state.stopped or "nothing was to be done",
        left_out=data.left_out,
    )


@contextmanager
def _alone(team: World, folder: Path, log: Callable[[str], None]) -> Iterator[Lock | None]:
    """Hold the folder's lock in the first process; the others wait for it."""
    if not team.main:
        team.wait()
        yield None
        return
    with locked(folder / "lock", log=log) as lock:
        team.wait()
        yield lock
