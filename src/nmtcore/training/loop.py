"""The training loop, from the first update to the weights a run ends with."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import torch
from torch import nn

from nmtcore.config.runs import RunSettings
from nmtcore.config.training import TrainingSettings
from nmtcore.features.examples import Examples
from nmtcore.training.batches import Plan
from nmtcore.training.checkpoints import Checkpoints
from nmtcore.training.data import TrainingData, training_data
from nmtcore.training.distributed import World, world
from nmtcore.training.lock import Lock, locked
from nmtcore.training.optimiser import clip
from nmtcore.training.reporter import Reporter, Update
from nmtcore.training.resume import Running, resume
from nmtcore.training.signals import Interrupted, Signals
from nmtcore.training.state import TrainingState
from nmtcore.training.update import accumulate, count, load, loss_names, seed_update
from nmtcore.training.validation import Validate, is_better, score_of, validation_scores


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
    """Training pairs over the maximum length."""


def train(
    run: RunSettings,
    model: nn.Module,
    train: Examples,
    dev: Examples,
    *,
    folder: Path,
    checkpoints: Path,
    validate: Validate | None = None,
    device: torch.device | str = "cpu",
    log: Callable[[str], None] = print,
) -> TrainingResult:
    """Train a model to the end, going on from the newest checkpoint in `checkpoints` (see `checkpoint_folder`).

    The log is written in `checkpoints` and copied to `folder` at the end. `validate` gives at least the recipe's
    metric, unless that is perplexity. Under torchrun every process calls this with the same arguments.

    Raises `Interrupted` after a checkpoint when a signal asked to stop, and `UserError` where there is nothing to
    train on, training diverges, or another trainer holds the folder for too long.
    """
    if validate is None and run.training.validation.metric != "perplexity":
        raise ValueError(f"the metric {run.training.validation.metric} needs `validate`")
    signals = Signals()
    with world(device) as team, _alone(team, checkpoints, log) as lock, signals.catching():
        log = log if team.main else _silent
        if run.training.precision == "bf16" and team.device.type != "cuda":
            log("This device trains in fp32: bf16 is for GPUs.")
        data = training_data(run, model, train, dev, log)
        store = Checkpoints(checkpoints, log=log)
        running = resume(run, model, store, team)
        if running.state.update:
            log(f"Going on from the checkpoint of update {running.state.update}.")
        names = loss_names(model.components)
        reporter = Reporter(checkpoints, names=names, state=running.state, team=team, log=log)
        try:
            trainer = _Trainer(run, data, running, store, team, signals, lock, reporter, validate)
            trainer.train()
            reporter.publish(folder)
        finally:
            reporter.close()
        _choose_weights(run.training, running, store)
        team.wait()
        return _result(running.state, data)


class _Trainer:
    """What the loop needs at hand; `train` is the loop."""

    def __init__(
        self,
        run: RunSettings,
        data: TrainingData,
        running: Running,
        store: Checkpoints,
        team: World,
        signals: Signals,
        lock: Lock | None,
        reporter: Reporter,
        validate: Validate | None,
    ) -> None:
        self.run, self.settings = run, run.training
        self.data, self.store, self.team, self.signals, self.lock = data, store, team, signals, lock
        self.reporter, self.validate = reporter, validate
        self.running, self.state, self.model = running, running.state, running.model
        self.names = loss_names(self.model.components)
        self.plan: Plan | None = None
        self.planned: int | None = None
        self.saved = True
        """Whether a checkpoint holds just this state (or nothing has happened yet)."""
        self.began = time.monotonic() - self.state.seconds

    def train(self) -> None:
        """Update until training is over; at each update: validate, write a checkpoint, stop or go on."""
        state, settings = self.state, self.settings
        while True:
            over = _reached_end(settings, state)
            better = False
            if state.validated < state.update and (over or state.update % settings.validation.every == 0):
                better = self.look()
            over = over or _given_up(settings, self.running)
            if not self.saved and (over or better or state.update % settings.checkpoint_every == 0):
                self.remember(over)
                self.save()
            if over:
                return
            if self.team.any(self.signals.name is not None):
                self.leave()
            self.enter_epoch()
            self.step()
            if state.update % settings.log_every == 0:
                self.report()

    def step(self) -> None:
        """Make one update."""
        state, team, optimiser = self.state, self.team, self.running.optimiser
        parameters = list(optimiser.parameters.values())
        update, epoch = state.update + 1, state.epoch + 1
        shares = self.data.shares(self.plan[state.step], rank=team.rank, ranks=team.size)
        batches = load(self.data.train, shares, self.model.components, team.device)
        counts = team.total(count(batches, self.names))
        seed_update(self.run.seed, update, team.rank)
        sums = accumulate(self.model, batches, dict(zip(self.names, counts, strict=True)), self.settings, team.device)
        team.share_gradients(parameters)
        gradient = clip(parameters, self.settings.clip_norm)
        rate = self.running.schedule.rate(update)
        optimiser.step(rate=rate)
        state.advance(batches=len(self.plan))
        self.saved = False
        self.reporter.add(Update(update=update, epoch=epoch, rate=rate, counts=counts, sums=sums, gradient=gradient))

    def enter_epoch(self) -> None:
        """Plan the epoch at its first update, or at the first after a resumption."""
        state = self.state
        if self.planned == state.epoch:
            return
        self.plan, self.planned = self.data.plan(state.epoch), state.epoch
        self.model.begin_epoch(state.epoch + 1)
        ends = [] if self.settings.max_updates is None else [self.settings.max_updates]
        if self.settings.max_epochs is not None:
            left = (self.settings.max_epochs - state.epoch) * len(self.plan) - state.step
            ends.append(state.update + left)
        self.reporter.expect(min(ends))

    def look(self) -> bool:
        """Validate and take note; True where the score is the best so far. Leaves when a signal breaks it off."""
        state = self.state
        self.report()
        scores = validation_scores(
            self.model, self.data.dev, self.data.dev_blocks, self.settings, self.team, self.signals, self.validate
        )
        if scores is None:
            self.leave()
        score = score_of(scores, self.settings.validation.metric)
        better = is_better(score, state.best_score)
        if better:
            state.best_score, state.best_update = score, state.update
        state.waited = 0 if better else state.waited + 1
        state.scores, state.validated = scores, state.update
        self.running.schedule.validated(better=better, perplexity=scores["perplexity"])
        self.saved = False
        state.seconds = time.monotonic() - self.began
        self.reporter.validation(state, better=better)
        self.reporter.restart()
        return better

    def remember(self, over: str | None) -> None:
        """Note a regular checkpoint, or the last one, among those to average, and why training is over."""
        state, settings = self.state, self.settings
        state.stopped = over
        if settings.keep == "average" and (over or state.update % settings.checkpoint_every == 0):
            state.window = [*(u for u in state.window if u != state.update), state.update][-settings.average :]

    def save(self) -> None:
        """Write a checkpoint (the first process does), and all lines of the log before it."""
        self.report()
        state = self.state
        state.seconds = time.monotonic() - self.began
        state.schedule = self.running.schedule.state()
        if self.team.main:
            self.lock.check()
            self.store.save(state, self.model, self.running.optimiser)
        self.team.wait()
        self.saved = True

    def report(self) -> None:
        """Write the line of the log about the updates since the last one."""
        self.reporter.flush(seconds=time.monotonic() - self.began)

    def leave(self) -> NoReturn:
        """Write a checkpoint where there is none, and end because of a signal."""
        if not self.saved:
            self.save()
        raise Interrupted(
            f"Training was stopped by {self.signals.name or 'a signal'} after update {self.state.update}; "
            "start it again and it goes on from there."
        )


def _reached_end(settings: TrainingSettings, state: TrainingState) -> str | None:
    if settings.max_updates is not None and state.update >= settings.max_updates:
        return f"all {settings.max_updates} updates are done"
    if settings.max_epochs is not None and state.epoch >= settings.max_epochs:
        return f"all {settings.max_epochs} epochs are done"
    return None


def _given_up(settings: TrainingSettings, running: Running) -> str | None:
    patience = settings.validation.stop_after
    if patience is not None and running.state.waited >= patience:
        return f"no better {settings.validation.metric} in {patience} validations"
    if running.schedule.finished:
        return f"the learning rate was lowered {settings.schedule.stop_after} times"
    return None


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


def _silent(line: str) -> None:
    """Say nothing: the first process speaks for all."""
