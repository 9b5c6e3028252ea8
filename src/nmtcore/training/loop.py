"""The training loop, from the first update, or the first one after a checkpoint, to the last."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

import torch

from nmtcore.config.runs import RunSettings
from nmtcore.config.training import TrainingSettings
from nmtcore.errors import shortened
from nmtcore.lock import Lock
from nmtcore.model.batch import Batch
from nmtcore.model.trees import DivergedTrees
from nmtcore.training.batch_plan import EpochPlan
from nmtcore.training.checkpoints import Checkpoints
from nmtcore.training.compiled_layers import CompiledLayers
from nmtcore.training.distributed import World
from nmtcore.training.prefetching import MakeBatches, Prefetcher
from nmtcore.training.reporter import FinishedUpdate, Reporter, divergence
from nmtcore.training.resume import ActiveRun
from nmtcore.training.signals import Interrupted, Signals
from nmtcore.training.state import TrainingState
from nmtcore.training.training_data import TrainingData
from nmtcore.training.update import accumulate_gradients, count_terms, seed_update, term_names, weight_copies
from nmtcore.training.validation import Validate, is_better, metric_score, validation_scores


@dataclass(kw_only=True)
class Trainer:
    """The training loop (`train`) and the objects that it uses."""

    run: RunSettings
    data: TrainingData
    active: ActiveRun
    checkpoints: Checkpoints
    world: World
    signals: Signals
    lock: Lock | None
    """Held by the first process; None in the others."""
    reporter: Reporter
    prefetcher: Prefetcher
    validate: Validate | None
    log: Callable[[str], None]

    def __post_init__(self) -> None:
        self.settings = self.run.training
        self.state, self.model = self.active.state, self.active.model
        self.names = term_names(self.model.components)
        self.copies = weight_copies(self.settings, self.model, self.world.device)
        self.compiled: CompiledLayers | None = None
        self.plan: EpochPlan | None = None
        self.planned_epoch: int | None = None
        self.saved = True
        """Whether a checkpoint has the current state; also true before the first update."""
        self.began = time.monotonic() - self.state.seconds

    def train(self) -> None:
        """Train to the end: between updates, validate, write a checkpoint and end, each when it is due."""
        state, settings = self.state, self.settings
        may_compile = settings.compile
        while True:
            end_reason = _end_of_schedule(settings, state)
            better = False
            if state.validated < state.update and (end_reason or state.update % settings.validation.every == 0):
                better = self.run_validation()
            end_reason = end_reason or _early_stop(settings, self.active)
            if not self.saved and (end_reason or better or state.update % settings.checkpoint_every == 0):
                state.stopped = end_reason
                self.select_for_averaging()
                self.save_checkpoint()
            if end_reason:
                return
            if self.world.any(self.signals.received is not None):
                self.stop_on_signal()
            self.plan_epoch_if_new()
            if may_compile:
                self.compile_layers()
                may_compile = False
            self.step()
            if state.update % settings.log_every == 0:
                self.report_updates()

    def step(self) -> None:
        """Do one update."""
        state, world, optimiser = self.state, self.world, self.active.optimiser
        parameters = list(optimiser.parameters.values())
        update, epoch = state.update + 1, state.epoch + 1
        batches = self.take_batches()
        counts = world.sum_by_name(count_terms(batches, self.names))
        rate = self.active.schedule.rate(update)
        weights = {c.name: c.loss_weight for c in self.model.components if c.name in self.names}
        sums = self.add_gradients(batches, counts, update)
        world.sum_gradients(parameters)
        norm = torch.nn.utils.clip_grad_norm_(parameters, self.settings.clip_norm or math.inf)
        optimiser.step(rate=rate)
        state.advance(batches=len(self.plan))
        self.saved = False
        self.reporter.add(
            FinishedUpdate(
                number=update, epoch=epoch, rate=rate, weights=weights, counts=counts, sums=sums, gradient_norm=norm
            )
        )

    def add_gradients(self, batches: Sequence[Batch], counts: Mapping[str, float], update: int) -> torch.Tensor:
        """Compute the gradients and sums of an update's batches. Raises `UserError` if induced trees overflow."""
        try:
            return self.accumulate(batches, counts, update)
        except DivergedTrees as error:
            raise divergence(error.problem, update=update, rate=self.active.schedule.rate(update)) from error

    def accumulate(self, batches: Sequence[Batch], counts: Mapping[str, float], update: int) -> torch.Tensor:
        """Compute the gradients and sums of an update's batches, with compiled layers as long as these work."""
        seed_update(self.run.seed, update, self.world.rank)
        arguments = (self.model, batches, counts, self.settings, self.world.device, self.copies)
        log = self.log if self.world.is_main else print
        if self.compiled is None:
            return accumulate_gradients(*arguments, log=log)
        try:
            with self.compiled.in_use():
                return accumulate_gradients(*arguments, log=log)
        except self.compiled.errors() as error:
            cause = shortened(" ".join(str(error).split()))
            self.log(f"Training goes on without compiled layers, with the same results; torch.compile failed: {cause}")
        self.compiled = None
        self.drop_gradients()
        return self.accumulate(batches, counts, update)

    def drop_gradients(self) -> None:
        """Forget what has been added to the gradients since the last update."""
        for parameter in (*self.model.parameters(), *(() if self.copies is None else self.copies.tensors())):
            parameter.grad = None

    def compile_layers(self) -> None:
        """Compile the model's layers with the batches of the next update, which are then computed once more."""
        layers = self.model.compilable_layers()
        if not layers:
            self.log(f"training.compile: only layers of transformers are compiled, and this model is {self.run.base}.")
            return
        began, update = time.monotonic(), self.state.update
        self.compiled = CompiledLayers(layers)
        batches = self.data.make_batches(self.plan[self.state.step], update, self.model.components, self.world)
        self.add_gradients(batches, self.world.sum_by_name(count_terms(batches, self.names)), update + 1)
        self.drop_gradients()
        if self.compiled is not None:
            self.log(f"Compiled {len(layers)} layers in {time.monotonic() - began:.0f} s.")
        self.reporter.restart_clock()

    def take_batches(self) -> list[Batch]:
        """Return the batches of the next update; a thread may begin with later ones.

        None are of the next epoch, or after a validation: components may change what they add to batches.
        """
        first = self.state.update - self.state.step
        every = self.settings.validation.every
        end = min(first + len(self.plan), (self.state.update // every + 1) * every)
        if self.settings.max_updates is not None:
            end = min(end, self.settings.max_updates)

        def maker(update: int) -> MakeBatches:
            rows_B = self.plan[update - first]
            return partial(self.data.make_batches, rows_B, update, self.model.components, self.world)

        return self.prefetcher.take(self.state.update, maker, end=end)

    def plan_epoch_if_new(self) -> None:
        """Plan the epoch before its first update, or before the first update after resuming."""
        state = self.state
        if self.planned_epoch == state.epoch:
            return
        self.plan = None  # of a large corpus, two plans at a time would take much memory
        self.plan, self.planned_epoch = self.data.plan(state.epoch), state.epoch
        for component in self.model.components:
            component.begin_epoch(state.epoch + 1)
        if self.active.schedule.may_end_training:
            self.reporter.expect_validations(every=self.settings.validation.every)
            return
        ends = [] if self.settings.max_updates is None else [self.settings.max_updates]
        if self.settings.max_epochs is not None:
            remaining = (self.settings.max_epochs - state.epoch) * len(self.plan) - state.step
            ends.append(state.update + remaining)
        self.reporter.set_total(min(ends))

    def run_validation(self) -> bool:
        """Validate and record the scores; return whether they are the best so far. A signal stops training here."""
        state = self.state
        self.report_updates()
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
        self.active.schedule.after_validation(better=better, perplexity=scores["perplexity"])
        for component in self.model.components:
            component.after_validation(scores)
        self.saved = False
        state.seconds = time.monotonic() - self.began
        self.reporter.add_validation(state, better=better)
        self.reporter.restart_clock()
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
        state.schedule = self.active.schedule.state()
        states = {component.name: component.training_state() for component in self.model.components}
        state.components = {name: component_state for name, component_state in states.items() if component_state}
        if self.world.is_main:
            self.lock.check_held()
            self.checkpoints.save(state, self.model, self.active.optimiser)
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


def _end_of_schedule(settings: TrainingSettings, state: TrainingState) -> str | None:
    """Say which limit of the settings training has reached, if any."""
    if settings.max_updates is not None and state.update >= settings.max_updates:
        return f"all {settings.max_updates} updates are done"
    if settings.max_epochs is not None and state.epoch >= settings.max_epochs:
        return f"all {settings.max_epochs} epochs are done"
    return None


def _early_stop(settings: TrainingSettings, active: ActiveRun) -> str | None:
    """Say why validation scores end training, if they do."""
    patience = settings.validation.stop_after
    if patience is not None and active.state.waited >= patience:
        return f"no better {settings.validation.metric} in {patience} validations"
    return active.schedule.end_reason
