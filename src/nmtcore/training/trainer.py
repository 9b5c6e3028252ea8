"""Training a run: the loop from the first update, or the first one after a checkpoint, to the final weights."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TextIO

import torch
from torch import Tensor, nn

from nmtcore.config.runs import RunSettings
from nmtcore.config.training import BatchSettings, TrainingSettings
from nmtcore.errors import shortened
from nmtcore.features.examples import Examples
from nmtcore.lock import Lock, locked
from nmtcore.model.batch import Batch
from nmtcore.model.device import explain_out_of_memory
from nmtcore.model.trees import DivergedTrees
from nmtcore.training.batch_plan import EpochPlan
from nmtcore.training.checkpoints import Checkpoints, named_weights
from nmtcore.training.data import TrainingData, prepare_training_data
from nmtcore.training.optimiser import Adam
from nmtcore.training.reporter import FinishedUpdate, Reporter, divergence
from nmtcore.training.schedules import after_validation, end_reason, learning_rate, may_end_training
from nmtcore.training.state import TrainingState
from nmtcore.training.update import (
    accumulate_gradients,
    count_terms,
    precision_message,
    seed_update,
    term_names,
    tf32,
)
from nmtcore.training.validation import Validate, is_better, metric_score, validation_scores
from nmtcore.training.world import Interrupted, Signals, World, join_world, silent


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
    recipe's metric; it may be None if that is perplexity. `log` gets messages; progress is shown on `terminal`
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
        parts = {"run": run, "model": model, "data": data, "checkpoints": checkpoints, "lock": lock}
        trainer = Trainer(**parts, world=world, signals=signals, validate=validate, log=log)
        trainer.start_or_resume()
        reporter = Reporter(checkpoint_folder, state=trainer.state, world=world, log=log, terminal=terminal)
        with tf32(run.training, world.device), closing(reporter):
            trainer.train(reporter)
            log(f"Training ended after {trainer.state.update} updates: {trainer.state.stopped}.")
            reporter.publish(log_folder)
        trainer.load_final_weights()
        world.wait()


def _memory_advice(batch: BatchSettings) -> str:
    current = f"the whole batch, {batch.size}" if batch.device_size is None else batch.device_size
    return (
        f"Lower training.batch.device_size (now {current} {batch.unit}): batches stay the same, but are cut into "
        "smaller pieces. Then start again; training resumes from its last checkpoint."
    )


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


@dataclass(kw_only=True)
class Trainer:
    """The training loop (`train`), with what it changes and a checkpoint restores: state, model and optimiser."""

    run: RunSettings
    model: nn.Module
    data: TrainingData
    checkpoints: Checkpoints
    world: World
    signals: Signals
    lock: Lock | None
    """Held by the first process; None in the others."""
    validate: Validate | None
    log: Callable[[str], None]

    def __post_init__(self) -> None:
        self.settings, self.state = self.run.training, TrainingState()
        self.names = term_names(self.model.components)
        self.model.to(self.world.device)
        self.parameters = {name: value for name, value in self.model.named_parameters() if value.requires_grad}
        self.optimiser = Adam(self.parameters, self.settings)
        self.compiled: Sequence[nn.Module] = ()
        """The layers that are compiled for updates; validation computes with them as they are."""
        self.plan: EpochPlan | None = None
        self.planned_epoch: int | None = None
        self.saved = True
        """Whether a checkpoint has the current state; also true before the first update."""

    def start_or_resume(self) -> None:
        """Load the newest complete checkpoint, if there is one, in all processes alike.

        Only the first process searches for it, since a search deletes damaged checkpoints; the others load the same.
        """
        newest = self.checkpoints.newest() if self.world.is_main else None
        update = int(self.world.sum([(-1.0 if newest is None else float(newest)) if self.world.is_main else 0.0])[0])
        if update < 0:
            self.world.broadcast_weights([tensor for _, tensor in named_weights(self.model)])
        else:
            self.state = self.checkpoints.load(update, self.model, self.optimiser)
            for component in self.model.components:
                if component.name in self.state.components:
                    component.restore_training_state(self.state.components[component.name])
            self.log(f"Resuming from the checkpoint of update {update}.")
        self.began = time.monotonic() - self.state.seconds

    def train(self, reporter: Reporter) -> None:
        """Train to the end: between updates, validate, write a checkpoint and end, each when it is due."""
        state, settings = self.state, self.settings
        if settings.compile:
            self.compile_layers()
        self.reporter = reporter
        while True:
            ended = _end_of_schedule(settings, state)
            better = False
            if state.validated < state.update and (ended or state.update % settings.validation.every == 0):
                better = self.run_validation()
            ended = ended or _early_stop(settings, state)
            if not self.saved and (ended or better or state.update % settings.checkpoint_every == 0):
                state.stopped = ended
                self.select_for_averaging()
                self.save_checkpoint()
            if ended:
                return
            if self.world.any(self.signals.received is not None):
                self.stop_on_signal()
            if self.planned_epoch != state.epoch:
                self.plan_epoch()
            self.step()
            if state.update % settings.log_every == 0:
                self.report_updates()

    def step(self) -> None:
        """Do one update."""
        state, world, components = self.state, self.world, self.model.components
        update, epoch, parameters = state.update + 1, state.epoch + 1, list(self.parameters.values())
        batches = self.data.make_batches(self.plan[state.step], state.update, components, world)
        counts = world.sum_by_name(count_terms(batches, self.names))
        rate = learning_rate(self.settings.schedule, state.schedule, update)
        weights = {component.name: component.loss_weight for component in components if component.name in self.names}
        try:
            sums = self.add_gradients(batches, counts, update)
        except DivergedTrees as error:
            raise divergence(error.problem, update=update, rate=rate) from error
        world.sum_gradients(parameters)
        norm = nn.utils.get_total_norm([parameter.grad for parameter in parameters])
        if self.settings.clip_norm is not None:
            nn.utils.clip_grads_with_norm_(parameters, self.settings.clip_norm, norm)
        self.optimiser.step(rate=rate)
        state.advance(batches=len(self.plan))
        self.saved = False
        self.reporter.add(
            FinishedUpdate(
                number=update, epoch=epoch, rate=rate, weights=weights, counts=counts, sums=sums, gradient_norm=norm
            )
        )

    def add_gradients(self, batches: Sequence[Batch], counts: dict[str, float], update: int) -> dict[str, Tensor]:
        """Compute the gradients and sums of an update's batches, with compiled layers as long as these work."""
        seed_update(self.run.seed, update, self.world.rank)
        try:
            log = self.log if self.world.is_main else print
            return accumulate_gradients(self.model, batches, counts, self.settings, self.world.device, log=log)
        except Exception as error:
            if not self.compiled or not _is_compilers(error):
                raise
            cause = shortened(" ".join(str(error).split()))
            self.log(f"Training goes on without compiled layers, with the same results; torch.compile failed: {cause}")
        for layer in self.compiled:
            layer._compiled_call_impl = None  # what `Module.compile` sets; torch has no method that undoes it
        self.compiled = ()
        for parameter in self.model.parameters():
            parameter.grad = None
        return self.add_gradients(batches, counts, update)

    def compile_layers(self) -> None:
        """Let torch compile each layer with its first batch; layers with the same code are compiled once."""
        self.compiled = self.model.compilable_layers()
        if not self.compiled:
            self.log(f"training.compile: only layers of transformers are compiled, and this model is {self.run.base}.")
            return
        self.log(f"Compiling {len(self.compiled)} layers, which takes up to a few minutes.")
        for layer in self.compiled:
            # Shapes are symbolic, since batches have hundreds of them; dropout is that of layers as they are.
            layer.compile(dynamic=True, options={"fallback_random": True})

    def plan_epoch(self) -> None:
        """Plan the epoch before its first update, or before the first update after resuming."""
        state = self.state
        self.plan = None  # of a large corpus, two plans at a time would take much memory
        self.plan, self.planned_epoch = self.data.plan(state.epoch), state.epoch
        for component in self.model.components:
            component.begin_epoch(state.epoch + 1)
        if may_end_training(self.settings.schedule):
            self.reporter.progress.validation_every = self.settings.validation.every
            return
        ends = [] if self.settings.max_updates is None else [self.settings.max_updates]
        if self.settings.max_epochs is not None:
            remaining = (self.settings.max_epochs - state.epoch) * len(self.plan) - state.step
            ends.append(state.update + remaining)
        self.reporter.progress.total = min(ends)

    def run_validation(self) -> bool:
        """Validate and record the scores; return whether they are the best so far. A signal stops training here."""
        state = self.state
        self.report_updates()
        # A search calls layers in many ways, each of which would be compiled, and compiling may fail.
        with torch.compiler.set_stance("force_eager") if self.compiled else nullcontext():
            scores = validation_scores(
                self.model, self.data.dev, self.data.dev_batches, self.settings, self.world, self.signals, self.validate
            )
        if scores is None:
            self.stop_on_signal()
        score = metric_score(scores, self.settings.validation.metric)
        better = is_better(score, state.best_score)
        if better:
            state.best_score, state.best_update = score, state.update
        state.waited = 0 if better else state.waited + 1
        state.scores, state.validated = scores, state.update
        after_validation(self.settings.schedule, state.schedule, better=better, perplexity=scores["perplexity"])
        for component in self.model.components:
            component.after_validation(scores)
        self.saved = False
        state.seconds = time.monotonic() - self.began
        self.reporter.add_validation(state, better=better)
        return better

    def select_for_averaging(self) -> None:
        """Add the next checkpoint to those that are averaged, if it is a regular one or the last of training."""
        state, settings = self.state, self.settings
        if settings.keep == "average" and (state.stopped or state.update % settings.checkpoint_every == 0):
            state.window = [*(u for u in state.window if u != state.update), state.update][-settings.average :]

    def save_checkpoint(self) -> None:
        """Write a checkpoint in the first process, after the log lines about its updates."""
        self.report_updates()
        state = self.state
        state.seconds = time.monotonic() - self.began
        states = {component.name: component.training_state() for component in self.model.components}
        state.components = {name: component_state for name, component_state in states.items() if component_state}
        if self.world.is_main:
            self.lock.check_held()
            self.checkpoints.save(state, self.model, self.optimiser)
        self.world.wait()
        self.saved = True

    def report_updates(self) -> None:
        """Write the log line about the updates since the last line."""
        self.reporter.flush(seconds=time.monotonic() - self.began)

    def stop_on_signal(self) -> NoReturn:
        """Write a checkpoint if there is none of the current state, and raise `Interrupted`."""
        if not self.saved:
            self.save_checkpoint()
        raise Interrupted(
            f"Training was stopped by {self.signals.received or 'a signal'} after update {self.state.update}; "
            "start it again to resume from there."
        )

    def load_final_weights(self) -> None:
        """Load the weights that the recipe keeps, unless they are those of the last update."""
        state, keep = self.state, self.settings.keep
        if keep == "best" and state.best_update not in (None, state.update):
            self.checkpoints.load_average(self.model, [state.best_update])
        elif keep == "average" and state.window:
            self.checkpoints.load_average(self.model, state.window)


def _is_compilers(error: Exception) -> bool:
    """Return whether an error is torch.compile's own; what is wrong in a layer itself raises other errors."""
    from torch._dynamo.exc import TorchDynamoException

    return isinstance(error, TorchDynamoException)


def _end_of_schedule(settings: TrainingSettings, state: TrainingState) -> str | None:
    """Say which limit of the settings training has reached, if any."""
    if settings.max_updates is not None and state.update >= settings.max_updates:
        return f"all {settings.max_updates} updates are done"
    if settings.max_epochs is not None and state.epoch >= settings.max_epochs:
        return f"all {settings.max_epochs} epochs are done"
    return None


def _early_stop(settings: TrainingSettings, state: TrainingState) -> str | None:
    """Say why validation scores end training, if they do."""
    patience = settings.validation.stop_after
    if patience is not None and state.waited >= patience:
        return f"no better {settings.validation.metric} in {patience} validations"
    return end_reason(settings.schedule, state.schedule)
