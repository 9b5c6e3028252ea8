"""Training a run: the loop from the first update, or the first one after a checkpoint, to the final weights."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import torch
from torch import nn

from nmtcore.config.runs import RunSettings
from nmtcore.config.training import BatchSettings
from nmtcore.errors import UserError, shortened
from nmtcore.features.examples import Examples
from nmtcore.lock import locked
from nmtcore.model.device import explain_out_of_memory, measured_peak, peak_memory
from nmtcore.model.linear import products_by
from nmtcore.model.trees import DivergedTrees
from nmtcore.training.batch_plan import EpochPlan
from nmtcore.training.checkpoints import Checkpoints
from nmtcore.training.data import TrainingData, prepare_training_data
from nmtcore.training.log import TrainingLog
from nmtcore.training.state import TrainingState, end_reason, learning_rate, lowers_rate
from nmtcore.training.update import (
    Adam,
    FinishedUpdate,
    accumulate_gradients,
    count_terms,
    divergence,
    precision_message,
    seed_update,
    term_names,
    tf32,
    training_line,
    update_operations,
    used_precision,
)
from nmtcore.training.validation import Validate, validation_scores
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
) -> None:
    """Train a model to the end, from the newest checkpoint in `checkpoint_folder` if it has one.

    `treebank` has the sentences of the run's treebanks, whose targets are ignored; `train` is None if the run has no
    sentence pairs. The model ends with the weights that the recipe keeps.

    The log is written in `checkpoint_folder` and copied to `log_folder` at the end. `validate` returns at least the
    recipe's metric; it may be None if that is perplexity. `log` gets messages. With several processes (`join_world`),
    each of them calls this with the same arguments.

    Raises `Interrupted` if a signal stops training (a checkpoint is written first), and `UserError` if there is nothing
    to train on, training diverges, a GPU's memory is full, another process ended (`OtherProcessEnded`), or another
    trainer holds the folder for too long.
    """
    signals, errors = Signals(), _explain_errors(run.training.batch)
    with errors, join_world(device) as world, _folder_lock(world, checkpoint_folder, log), signals.handled():
        say, log = log, log if world.is_main else silent
        if world.device.type == "cuda":
            log(precision_message(run.training, world.device))
        else:
            log(f"Linear layers are computed by {products_by(world.device)}.")
        data = prepare_training_data(run, model, train, dev, log, treebank=treebank)
        checkpoints = Checkpoints(checkpoint_folder, log=log)
        parts = {"run": run, "model": model, "data": data, "checkpoints": checkpoints}
        trainer = Trainer(**parts, world=world, signals=signals, validate=validate, log=log, say=say)
        trainer.start_or_resume()
        history = trainer.history
        with tf32(run.training, world.device), nullcontext() if history is None else closing(history):
            trainer.train()
            log(f"Training ended after {trainer.state.update} updates: {trainer.state.stopped}.")
            if history is not None:
                history.publish(log_folder)
        trainer.load_final_weights()
        world.wait()


@contextmanager
def _explain_errors(batch: BatchSettings) -> Iterator[None]:
    """Replace errors of a full memory and of torch.compile; what is wrong in a layer itself raises other errors."""
    current = f"the whole batch, {batch.size}" if batch.device_size is None else batch.device_size
    advice = (
        f"Lower machine.device_size in config.yaml (now {current} {batch.unit}): batches stay the same, but are cut "
        "into smaller pieces. Then start again; training resumes from its last checkpoint."
    )
    try:
        with explain_out_of_memory(advice):
            yield
    except Exception as error:
        from torch._dynamo.exc import TorchDynamoException

        if not isinstance(error, TorchDynamoException):
            raise
        cause = shortened(" ".join(str(error).split()))
        raise UserError(f"torch.compile failed ({cause}): set machine.compile to false in config.yaml.") from error


@contextmanager
def _folder_lock(world: World, folder: Path, log: Callable[[str], None]) -> Iterator[None]:
    """Hold the folder's lock in the first process; the others wait until it has the lock."""
    with locked(folder / "lock", log=log) if world.is_main else nullcontext():
        world.wait()
        yield


@dataclass(kw_only=True)
class Trainer:
    """The training loop (`train`), with what it changes and a checkpoint restores: state, model and optimiser."""

    run: RunSettings
    model: nn.Module
    data: TrainingData
    checkpoints: Checkpoints
    world: World
    signals: Signals
    validate: Validate | None
    log: Callable[[str], None]
    """Logs what concerns all processes, in the first one."""
    say: Callable[[str], None]
    """Logs what concerns this process."""

    def __post_init__(self) -> None:
        self.settings, self.state = self.run.training, TrainingState()
        self.names = term_names(self.model.components)
        self.model.to(self.world.device)
        self.parameters = {name: value for name, value in self.model.named_parameters() if value.requires_grad}
        self.optimiser = Adam(self.parameters, self.settings)
        self.plan: EpochPlan | None = None
        self.saved = True
        """Whether a checkpoint has the current state; also true before the first update."""
        self.peak: float | None = None
        """The operations per second of the GPU in a large product; None on a CPU."""
        self.updates: list[FinishedUpdate] = []
        """The updates since the last line of the log."""

    def start_or_resume(self) -> None:
        """Load the newest complete checkpoint, if there is one, in all processes alike, and open the log in the first.

        Only the first process searches for it, since a search deletes damaged checkpoints; the others load the same.
        """
        newest = self.checkpoints.newest() if self.world.is_main else None
        update = int(self.world.sum([(-1.0 if newest is None else float(newest)) if self.world.is_main else 0.0])[0])
        if update >= 0:
            self.state = self.checkpoints.load(update, self.model, self.optimiser)
            for component in self.model.components:
                component.begin_epoch(self.state.trained_epoch)  # the validation of its last update may be to come
            self.log(f"Resuming from the checkpoint of update {update}.")
        self.began, self.history = time.monotonic() - self.state.seconds, None
        if self.world.is_main:
            positions = {"update": self.state.update, "validated": self.state.validated}
            self.history = TrainingLog(self.checkpoints.folder, **positions, log=self.log)

    def train(self) -> None:
        """Train to the end: between updates, validate, write a checkpoint and end, each when it is due."""
        state, settings = self.state, self.settings
        if self.world.device.type == "cuda":
            self.measure_peak()
        if settings.compile:
            self.log("Compiling parts of the model with the first batches, which takes up to a few minutes.")
            # Shapes are symbolic, since batches have hundreds of them.
            self.model.compile_parts(dynamic=True)
        if self.data.auxiliary is not None:
            self.auxiliary_batches = self.data.auxiliary.batches_from(state.update)
        self.line_began = time.monotonic()
        while True:
            ended = end_reason(settings, state)
            better = False
            if state.validated < state.update and (ended or state.update % settings.validation.every == 0):
                better = self.run_validation()
            ended = ended or end_reason(settings, state)
            if not self.saved and (ended or better or state.update % settings.checkpoint_every == 0):
                state.stopped = ended
                if settings.keep == "average" and (ended or state.update % settings.checkpoint_every == 0):
                    state.window = [*(u for u in state.window if u != state.update), state.update][-settings.average :]
                self.save_checkpoint()
            if ended:
                return
            if self.world.any(self.signals.received is not None):
                self.stop_on_signal()
            if self.plan is None or state.step == 0:
                self.plan_epoch()
            self.step()
            if state.update % settings.log_every == 0:
                self.report_updates()

    def step(self) -> None:
        """Do one update."""
        state, world, components = self.state, self.world, self.model.components
        update, epoch, parameters = state.update + 1, state.epoch + 1, list(self.parameters.values())
        batches = self.data.main.make_batches(self.plan[state.step], components, world)
        if self.data.auxiliary is not None:
            batches += self.data.auxiliary.make_batches(next(self.auxiliary_batches), components, world)
        counts = world.sum_by_name(count_terms(batches, self.names))
        rate = learning_rate(self.settings.schedule, update, lowered=state.lowered)
        weights = {component.name: component.loss_weight for component in components if component.name in self.names}
        seed_update(self.run.seed, update, world.rank)
        try:
            sums = accumulate_gradients(self.model, batches, counts, self.settings, world.device, log=self.say)
        except DivergedTrees as error:
            raise divergence(error.problem, update=update, rate=rate) from error
        world.sum_gradients(parameters)
        norm = nn.utils.get_total_norm([parameter.grad for parameter in parameters])
        if self.settings.clip_norm is not None:
            nn.utils.clip_grads_with_norm_(parameters, self.settings.clip_norm, norm)
        self.optimiser.step(rate=rate)
        state.advance(batches=len(self.plan))
        self.saved = False
        operations = update_operations(self.model, batches)
        self.updates.append(FinishedUpdate(update, epoch, rate, weights, counts, sums, norm, operations))

    def measure_peak(self) -> None:
        """Measure the GPU's peak, and give the memory back that this takes, which counts for nothing."""
        self.peak = measured_peak(self.world.device, used_precision(self.settings, self.world.device))
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(self.world.device)

    def plan_epoch(self) -> None:
        """Plan the epoch before its first update, or before the first update after resuming."""
        state, settings = self.state, self.settings
        self.plan = None  # of a large corpus, two plans at a time would take much memory
        self.plan = self.data.main.plan(state.epoch)
        for component in self.model.components:
            component.begin_epoch(state.epoch + 1)
        ends = [] if settings.max_updates is None else [settings.max_updates]
        if settings.max_epochs is not None:
            ends.append(state.update - state.step + (settings.max_epochs - state.epoch) * len(self.plan))
        if self.history is not None:
            self.history.total = min(ends, default=None)

    def run_validation(self) -> bool:
        """Validate and record the scores; return whether they are the best so far. A signal stops training here."""
        state, settings = self.state, self.settings
        self.report_updates()
        # A search calls layers in many ways, each of which would be compiled, and compiling may fail.
        with torch.compiler.set_stance("force_eager") if settings.compile else nullcontext():
            parts = self.model, self.data, settings, self.world, self.signals, self.validate
            scores = validation_scores(*parts, log=self.say)
        if scores is None:
            self.stop_on_signal()
        metric, perplexity = settings.validation.metric, scores["perplexity"]
        score = -perplexity if metric == "perplexity" else scores[metric]
        better = math.isfinite(score) and (state.best_score is None or score > state.best_score)
        if better:
            state.best_score, state.best_update = score, state.update
        state.waited = 0 if better else state.waited + 1
        before = state.scores.get("perplexity")
        state.lowered += lowers_rate(settings.schedule, waited=state.waited, perplexity=perplexity, before=before)
        state.scores, state.validated = scores, state.update
        self.saved = False
        state.seconds = time.monotonic() - self.began
        if self.history is not None:
            position = {"update": state.update, "epoch": state.trained_epoch, "seconds": round(state.seconds, 3)}
            self.history.write_validation({**position, "validation": scores, "best": better})
        self.line_began = time.monotonic()
        return better

    def save_checkpoint(self) -> None:
        """Write a checkpoint in the first process, after the log lines about its updates."""
        self.report_updates()
        state = self.state
        state.seconds = time.monotonic() - self.began
        if self.world.is_main:
            self.checkpoints.save(state, self.model, self.optimiser)
        self.world.wait()
        self.saved = True

    def report_updates(self) -> None:
        """Write the log line about the updates since the last line."""
        if not self.updates:
            return
        line, now = training_line(self.updates, self.world), time.monotonic()
        seconds = max(now - self.line_began, 1e-9)
        line["tokens_per_second"] = round(line["tokens"] / seconds, 1)
        line["peak_memory_bytes"] = peak_memory(self.world.device)
        if self.peak is not None:
            line["share_of_peak"] = round(sum(update.operations for update in self.updates) / seconds / self.peak, 4)
        self.updates, self.line_began = [], now
        if self.history is not None:
            self.history.write_updates({**line, "seconds": round(now - self.began, 3)})

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
        kept = {"best": [self.state.best_update], "average": self.state.window}.get(self.settings.keep, [])
        if kept not in ([], [None], [self.state.update]):
            self.checkpoints.load_average(self.model, kept)
