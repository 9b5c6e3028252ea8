"""The loop: from the first update, or the one after a checkpoint, to the last."""

import time
from dataclasses import dataclass
from typing import NoReturn

from nmtcore.config.runs import RunSettings
from nmtcore.config.training import TrainingSettings
from nmtcore.training.batch_plan import Plan
from nmtcore.training.checkpoints import Checkpoints
from nmtcore.training.distributed import World
from nmtcore.training.lock import Lock
from nmtcore.training.optimiser import clip
from nmtcore.training.reporter import Reporter, Update
from nmtcore.training.resume import Running
from nmtcore.training.signals import Interrupted, Signals
from nmtcore.training.state import TrainingState
from nmtcore.training.training_data import TrainingData
from nmtcore.training.update import accumulate, count, loss_names, seed_update
from nmtcore.training.validation import Validate, is_better, score_of, validation_scores


@dataclass(kw_only=True)
class Trainer:
    """What the loop needs at hand; `train` is the loop."""

    run: RunSettings
    data: TrainingData
    running: Running
    store: Checkpoints
    team: World
    signals: Signals
    lock: Lock | None
    """Held by the first process."""
    reporter: Reporter
    validate: Validate | None

    def __post_init__(self) -> None:
        self.settings = self.run.training
        self.state, self.model = self.running.state, self.running.model
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
        where = {"rank": team.rank, "ranks": team.size, "device": team.device}
        batches = self.data.batches(self.plan[state.step], state.update, self.model.components, **where)
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
    return running.schedule.finished
