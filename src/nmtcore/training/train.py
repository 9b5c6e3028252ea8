"""Training a run: preparation, the loop (loop.py) and the choice of the final weights."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TextIO

import torch
from torch import nn

from nmtcore.config.runs import RunSettings
from nmtcore.config.training import BatchSettings, TrainingSettings
from nmtcore.features.examples import Examples
from nmtcore.lock import Lock, locked
from nmtcore.model.device import explain_out_of_memory
from nmtcore.training.checkpoints import Checkpoints
from nmtcore.training.distributed import World, join_world, silent
from nmtcore.training.loop import Trainer
from nmtcore.training.prefetching import Prefetcher, prefetched_updates
from nmtcore.training.reporter import Reporter
from nmtcore.training.resume import ActiveRun, start_or_resume
from nmtcore.training.signals import Signals
from nmtcore.training.training_data import prepare_training_data
from nmtcore.training.update import term_names, tf32, used_precision
from nmtcore.training.validation import Validate


def train(
    run: RunSettings,
    model: nn.Module,
    train: Examples | None,
    dev: Examples,
    *,
    treebank: Examples | None = None,
    log_folder: Path,
    checkpoint_folder: Path,
    validate: Validate | None = None,
    device: torch.device | str = "cpu",
    log: Callable[[str], None] = print,
    terminal: TextIO | None = None,
) -> None:
    """Train a model to the end, from the newest checkpoint in `checkpoint_folder` if it has one.

    `treebank` has the sentences of the run's treebanks, whose targets are ignored; `train` is None if the run has no
    sentence pairs. The model ends with the weights that the recipe keeps.

    The log is written in `checkpoint_folder` and copied to `log_folder` at the end. `validate` returns at least the
    recipe's metric; it may be None if that is perplexity. `log` gets messages; a progress bar is drawn on `terminal`
    (default: standard error) if that is a terminal. Under torchrun, every process calls this with the same arguments.

    Raises `Interrupted` if a signal stops training (a checkpoint is written first), and `UserError` if there is nothing
    to train on, training diverges, a GPU's memory is full, another process ended (`OtherProcessEnded`), or another
    trainer holds the folder for too long.
    """
    if validate is None and run.training.validation.metric != "perplexity":
        raise ValueError(f"the metric {run.training.validation.metric} needs `validate`")
    signals, memory = Signals(), explain_out_of_memory(_memory_advice(run.training.batch))
    with memory, join_world(device) as world, _folder_lock(world, checkpoint_folder, log) as lock, signals.handled():
        log = log if world.is_main else silent
        if world.device.type == "cuda":
            log(precision_message(run.training, world.device))
        data = prepare_training_data(run, model, train, dev, log, treebank=treebank)
        checkpoints = Checkpoints(checkpoint_folder, log=log)
        active = start_or_resume(run, model, checkpoints, world)
        state = active.state
        if state.update:
            log(f"Resuming from the checkpoint of update {state.update}.")
        reporter = Reporter(
            checkpoint_folder, names=term_names(model.components), state=state, world=world, log=log, terminal=terminal
        )
        prefetcher = Prefetcher(ahead=prefetched_updates(run.training.batch, world.device), device=world.device)
        with closing(reporter), closing(prefetcher), tf32(run.training, world.device):
            Trainer(
                run=run,
                data=data,
                active=active,
                checkpoints=checkpoints,
                world=world,
                signals=signals,
                lock=lock,
                reporter=reporter,
                prefetcher=prefetcher,
                validate=validate,
                log=log,
            ).train()
            log(f"Training ended after {state.update} updates: {state.stopped}.")
            reporter.publish(log_folder)
        _load_final_weights(run.training, active, checkpoints)
        world.wait()


def precision_message(settings: TrainingSettings, device: torch.device) -> str:
    """Say in which precision a GPU trains."""
    used = used_precision(settings, device)
    return f"Training in {used}{'' if used == settings.precision else f': this GPU has no {settings.precision}'}."


def _memory_advice(batch: BatchSettings) -> str:
    current = f"the whole batch, {batch.size}" if batch.device_size is None else batch.device_size
    return (
        f"Lower training.batch.device_size (now {current} {batch.unit}): batches stay the same, but are cut into "
        "smaller pieces. Then start again; training resumes from its last checkpoint."
    )


def _load_final_weights(settings: TrainingSettings, active: ActiveRun, checkpoints: Checkpoints) -> None:
    """Load the weights that the recipe keeps, unless they are those of the last update."""
    state = active.state
    if settings.keep == "best" and state.best_update not in (None, state.update):
        checkpoints.load_average(active.model, [state.best_update])
    elif settings.keep == "average" and state.window:
        checkpoints.load_average(active.model, state.window)


@contextmanager
def _folder_lock(world: World, folder: Path, log: Callable[[str], None]) -> Iterator[Lock | None]:
    """Hold the folder's lock in the first process; the others wait until it has the lock."""
    if not world.is_main:
        world.wait()
        yield None
        return
    with locked(folder / "lock", log=log) as lock:
        world.wait()
        yield lock
