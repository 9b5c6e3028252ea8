"""The training loop: epochs, speed and time in the log, and early stopping."""

import math
from types import SimpleNamespace

import pytest
import torch
from inference.tiny import random_model
from training import tiny
from training.test_train import bleu_scores, checkpoint_updates, same_weights, train_tiny

from nmtcore.config.components.settings import DepParseSettings, RelativePositionsSettings
from nmtcore.errors import UserError
from nmtcore.training.checkpoints import Checkpoints, named_weights
from nmtcore.training.log import Progress
from nmtcore.training.update import term_names
from nmtcore.training.validation import is_better


class Recorded:
    """An attribute that records every value but None that it is set to."""

    def __init__(self, values):
        self.values = values

    def __get__(self, instance, owner):
        return self.values[-1] if self.values else None

    def __set__(self, instance, value):
        self.values += [] if value is None else [value]


def training_lines(lines):
    return [line for line in lines if "validation" not in line]


def test_epochs_count_from_one_in_the_log(tmp_path):
    run = tiny.settings(max_epochs=3, max_updates=None, log_every=1)
    state, _, lines = train_tiny(tmp_path, run)
    epochs = [line["epoch"] for line in training_lines(lines)]
    assert (epochs[0], epochs[-1], epochs) == (1, 3, sorted(epochs))
    assert state.update / 4 < epochs.count(2) < state.update / 2


@pytest.mark.parametrize(("updates", "epochs"), [(24, None), (None, 2), (3, 2), (1000, 2)])
def test_the_expected_number_of_updates_is_right_after_resuming_in_an_epoch(tmp_path, monkeypatch, updates, epochs):
    settings = {"validation": {"every": 1000}, "log_every": 1, "checkpoint_every": 1000}
    expected = []
    monkeypatch.setattr(Progress, "total", Recorded(expected), raising=False)
    # Stop in the middle of the first epoch, and resume there.
    train_tiny(tmp_path, tiny.settings(max_updates=2, **settings))
    assert expected == [2]
    state = train_tiny(tmp_path, tiny.settings(max_updates=updates, max_epochs=epochs, **settings))[0]
    assert state.update == (updates if updates in (3, 24) else state.update) > 2
    if updates == 24:
        assert set(expected[1:]) == {24}
    else:
        # Epochs differ by a batch or so, so that only the last number is exact.
        assert expected[-1] == state.update
        assert all(abs(count - state.update) <= 3 for count in expected[1:])


@pytest.mark.parametrize(
    "schedule",
    [
        {"kind": "halving", "peak": 1e-3, "stop_after": 5},
        {"kind": "plateau", "peak": 1e-3, "floor": 1e-8, "stop_at_floor": True},
    ],
)
def test_no_number_of_updates_is_expected_if_the_schedule_may_end_training(tmp_path, monkeypatch, schedule):
    expected, intervals = [], []
    monkeypatch.setattr(Progress, "total", Recorded(expected), raising=False)
    monkeypatch.setattr(Progress, "validation_every", Recorded(intervals), raising=False)
    settings = {"max_updates": 12, "validation": {"every": 6}}
    train_tiny(tmp_path / "ends", tiny.settings(schedule=schedule, **settings))
    assert (expected, set(intervals)) == ([], {6})
    intervals.clear()
    endless = schedule | ({"stop_after": None} if "stop_after" in schedule else {"stop_at_floor": False})
    train_tiny(tmp_path / "goes_on", tiny.settings(schedule=endless, **settings))
    assert (set(expected), intervals) == ({12}, [])


@pytest.fixture
def clock(monkeypatch):
    """A clock that only tests move."""
    time = SimpleNamespace(now=100.0)
    for module in ("trainer", "reporter"):
        monkeypatch.setattr(f"nmtcore.training.{module}.time", SimpleNamespace(monotonic=lambda: time.now))
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


def test_a_trainer_that_lost_its_lock_writes_no_checkpoint(tmp_path):
    run = tiny.settings(max_updates=24, checkpoint_every=4, validation={"every": 100})
    model, calls = tiny.model_of(run), []

    def steal():
        calls.append(1)
        if len(calls) == 6:
            (tmp_path / "checkpoints/lock").write_text('{"token": "another"}')

    tiny.around_loss(model, before=steal)
    with pytest.raises(UserError, match=r"Another trainer took .*lock while this one was suspended"):
        train_tiny(tmp_path, run, model=model)
    assert checkpoint_updates(tmp_path) == [4]
    assert (tmp_path / "checkpoints/lock").exists()


@pytest.mark.parametrize("precision", ["bf16", "tf32"])
def test_other_precisions_on_a_cpu_train_in_fp32(tmp_path, precision):
    fp32 = train_tiny(tmp_path / "plain", tiny.settings(max_updates=4), log=(messages := []).append)[1]
    other = train_tiny(tmp_path / "other", tiny.settings(max_updates=4, precision=precision), log=messages.append)[1]
    assert same_weights(fp32, other)
    assert not any("Training in" in line for line in messages)


def test_log_lines_do_not_depend_on_micro_batches(tmp_path):
    values = []
    for size in (None, 40):
        run = tiny.settings(parses=True, dropout=0.0, max_updates=4, log_every=1, batch={"device_size": size})
        lines = train_tiny(tmp_path / str(size), run, model=tiny.model_of(run).double())[2]
        keys = ("loss", "nll", "loss/depparse", "tokens")
        values.append([line[key] for line in training_lines(lines) for key in keys])
    assert values[0] == pytest.approx(values[1])


@pytest.mark.parametrize("keep", ["last", "average"])
def test_the_best_weights_are_not_used_by_other_choices(tmp_path, keep):
    validation = {"every": 2, "metric": "bleu"}
    run = tiny.settings(max_updates=8, keep=keep, average=2, validation=validation, checkpoint_every=2)
    validate, weights = bleu_scores(9.0, 1.0, 2.0, 3.0)
    state, model, _ = train_tiny(tmp_path, run, validate=validate)
    assert state.best_update == 2
    for name, tensor in named_weights(model):
        mean = ((weights[2][name].double() + weights[3][name].double()) / 2).float()
        assert torch.equal(tensor, weights[3][name] if keep == "last" else mean)


def test_scores_that_are_not_finite_are_never_the_best():
    assert [is_better(score, None) for score in (math.nan, math.inf, -math.inf, -5.0)] == [False, False, False, True]
    assert [is_better(score, 1.0) for score in (math.nan, math.inf, 1.0, 1.5)] == [False, False, False, True]


def test_only_components_with_a_loss_have_a_term():
    components = random_model(RelativePositionsSettings(), DepParseSettings(layer=0)).components
    assert term_names(components) == ("translation", "depparse")


def test_a_run_stops_after_the_given_number_of_validations_without_a_better_score(tmp_path):
    bleu = iter([5.0, 4.0, math.nan, 6.0, 6.0, 5.0, 9.0])
    run = tiny.settings(max_updates=24, validation={"every": 2, "metric": "bleu", "stop_after": 3})
    state = train_tiny(tmp_path, run, validate=lambda model: {"bleu": next(bleu, 0.0)})[0]
    assert (state.update, state.best_update, state.stopped) == (20, 14, "no better bleu in 3 validations")


def test_only_gradients_over_the_maximum_norm_are_scaled_down(tmp_path):
    # With so large an epsilon, the first step of Adam is the gradient times a constant.
    settings = {"max_updates": 1, "epsilon": 1e6, "schedule": {"kind": "constant", "peak": 1.0}, "log_every": 1}

    def change_of(**clipping):
        run = tiny.settings(**settings, **clipping)
        before = tiny.model_of(run).double()
        _, after, lines = train_tiny(tmp_path / str(clipping), run, model=tiny.model_of(run).double())
        pairs = zip(named_weights(before), named_weights(after), strict=True)
        return torch.cat([(new - old).flatten() for (_, old), (_, new) in pairs]), lines[0]["gradient"]

    change, norm = change_of()
    for max_norm, factor in ((2 * norm, 1.0), (norm / 2, 0.5)):
        clipped, reported = change_of(clip_norm=max_norm)
        torch.testing.assert_close(clipped, factor * change, rtol=1e-4, atol=1e-12)
        assert reported == norm
