"""The training loop: epochs, speed and time in the log, early stopping, and resuming."""

import math
from types import SimpleNamespace

import pytest
from training import tiny
from training.test_train import train_tiny

from nmtcore.training.checkpoints import Checkpoints
from nmtcore.training.validation import is_better


def training_lines(lines):
    return [line for line in lines if "validation" not in line]


@pytest.fixture
def clock(monkeypatch):
    """A clock that only tests move."""
    time = SimpleNamespace(now=100.0)
    monkeypatch.setattr("nmtcore.training.trainer.time", SimpleNamespace(monotonic=lambda: time.now))
    return time


def ticking(model, clock):
    """Move the clock by a second whenever the model computes losses."""
    tiny.around_loss(model, before=lambda: setattr(clock, "now", clock.now + 1))
    return model


def test_seconds_add_up_over_attempts(tmp_path, clock):
    settings = {"validation": {"every": 1000}, "checkpoint_every": 4, "log_every": 1}
    first = tiny.settings(max_updates=6, **settings)
    train_tiny(tmp_path, first, model=ticking(tiny.model_of(first), clock))
    assert Checkpoints(tmp_path / "checkpoints").state(4).seconds == 4
    clock.now += 5000
    second = tiny.settings(max_updates=12, **settings)
    state, _, lines = train_tiny(tmp_path, second, model=ticking(tiny.model_of(second), clock))
    dev_batches = 2
    seconds = [line["seconds"] for line in training_lines(lines)]
    assert seconds[:6] == [1, 2, 3, 4, 5, 6]
    assert seconds[6:] == [6 + dev_batches + n for n in range(1, 7)]
    assert state.seconds == 12 + 2 * dev_batches


def test_speed_does_not_count_validations(tmp_path, clock):
    run = tiny.settings(max_updates=6, validation={"every": 2, "metric": "bleu"}, log_every=1)

    def validate(model):
        clock.now += 1000
        return {"bleu": 1.0}

    lines = train_tiny(tmp_path, run, model=ticking(tiny.model_of(run), clock), validate=validate)[2]
    assert all(line["tokens_per_second"] == line["tokens"] for line in training_lines(lines))


def test_scores_that_are_not_finite_are_never_the_best():
    assert [is_better(score, None) for score in (math.nan, math.inf, -math.inf, -5.0)] == [False, False, False, True]
    assert [is_better(score, 1.0) for score in (math.nan, math.inf, 1.0, 1.5)] == [False, False, False, True]


def test_a_run_stops_after_the_given_number_of_validations_without_a_better_score(tmp_path):
    bleu = iter([5.0, 4.0, math.nan, 6.0, 6.0, 5.0, 9.0])
    run = tiny.settings(max_updates=24, validation={"every": 2, "metric": "bleu", "stop_after": 3})
    state = train_tiny(tmp_path, run, validate=lambda model: {"bleu": next(bleu, 0.0)})[0]
    assert (state.update, state.best_update, state.stopped) == (20, 14, "no better bleu in 3 validations")
