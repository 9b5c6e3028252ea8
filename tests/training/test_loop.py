"""What the loop tells of itself: epochs, speed, time; and when it stops by itself."""

import math
from types import SimpleNamespace

import pytest
import torch
from inference.tiny import random_model
from training import tiny
from training.test_train import run_it, same, scores

from nmtcore.config.components import RelativePositionsSettings
from nmtcore.config.components.parser_head import DepParseSettings
from nmtcore.errors import UserError
from nmtcore.files import read_json
from nmtcore.training.checkpoints import named_weights
from nmtcore.training.reporter import Reporter
from nmtcore.training.update import loss_names
from nmtcore.training.validation import is_better


def training_lines(lines):
    return [line for line in lines if "validation" not in line]


def test_epochs_count_from_one_in_the_log(tmp_path):
    run = tiny.settings(max_epochs=3, max_updates=None, log_every=1)
    result, _, lines = run_it(tmp_path, run)
    told = [line["epoch"] for line in training_lines(lines)]
    assert (told[0], told[-1], told) == (1, 3, sorted(told))
    assert result.updates / 4 < told.count(2) < result.updates / 2


@pytest.mark.parametrize(("updates", "epochs"), [(24, None), (None, 2), (3, 2), (1000, 2)])
def test_the_end_is_foreseen_also_in_the_middle_of_an_epoch(tmp_path, monkeypatch, updates, epochs):
    settings = {"validation": {"every": 1000}, "log_every": 1, "checkpoint_every": 1000}
    expected = []
    monkeypatch.setattr(Reporter, "expect", lambda self, updates: expected.append(updates))
    # Left in the middle of the first epoch, begun again there.
    run_it(tmp_path, tiny.settings(max_updates=2, **settings))
    assert expected == [2]
    result = run_it(tmp_path, tiny.settings(max_updates=updates, max_epochs=epochs, **settings))[0]
    assert result.updates == (updates if updates in (3, 24) else result.updates) > 2
    if updates == 24:
        assert set(expected[1:]) == {24}
    else:
        # Epochs differ by a batch or so, since each is cut anew; the last knows.
        assert expected[-1] == result.updates
        assert all(abs(count - result.updates) <= 3 for count in expected[1:])


@pytest.fixture
def clock(monkeypatch):
    """A clock that only moves when told."""
    told = SimpleNamespace(now=100.0)
    for module in ("loop", "reporter"):
        monkeypatch.setattr(f"nmtcore.training.{module}.time", SimpleNamespace(monotonic=lambda: told.now))
    return told


def ticking(model, clock):
    """A second for each forward pass."""
    model.register_forward_pre_hook(lambda *_: setattr(clock, "now", clock.now + 1))
    return model


def test_seconds_go_on_in_the_next_attempt(tmp_path, clock):
    settings = {"validation": {"every": 1000}, "checkpoint_every": 4, "log_every": 1}
    first = tiny.settings(max_updates=6, **settings)
    run_it(tmp_path, first, model=ticking(tiny.model_of(first), clock))
    assert read_json(tmp_path / "checkpoints/00000004.json")["state"]["seconds"] == 4
    clock.now += 5000
    second = tiny.settings(max_updates=12, **settings)
    result, _, lines = run_it(tmp_path, second, model=ticking(tiny.model_of(second), clock))
    dev = 2
    seconds = [line["seconds"] for line in training_lines(lines)]
    assert seconds[:6] == [1, 2, 3, 4, 5, 6]
    assert seconds[6:] == [6 + dev + n for n in range(1, 7)]
    assert result.seconds == 12 + 2 * dev


def test_speed_does_not_count_validations(tmp_path, clock):
    run = tiny.settings(max_updates=6, validation={"every": 2, "metric": "bleu"}, log_every=1)

    def validate(model):
        clock.now += 1000
        return {"bleu": 1.0}

    lines = run_it(tmp_path, run, model=ticking(tiny.model_of(run), clock), validate=validate)[2]
    assert [line["tokens_per_second"] for line in training_lines(lines)] == [
        line["tokens"] for line in training_lines(lines)
    ]


def test_a_trainer_that_lost_its_lock_writes_no_checkpoint(tmp_path):
    run = tiny.settings(max_updates=24, checkpoint_every=4, validation={"every": 100})
    model, calls = tiny.model_of(run), []

    def steal(*_):
        calls.append(1)
        if len(calls) == 6:
            (tmp_path / "checkpoints/lock").write_text('{"token": "another"}')

    model.register_forward_pre_hook(steal)
    with pytest.raises(UserError, match=r"Another trainer has taken .*lock while this one stood still"):
        run_it(tmp_path, run, model=model)
    assert [path.name for path in (tmp_path / "checkpoints").glob("0*.json")] == ["00000004.json"]
    assert (tmp_path / "checkpoints/lock").exists()


def test_a_cpu_trains_in_fp32_and_says_so(tmp_path):
    said = []
    plain = run_it(tmp_path / "plain", tiny.settings(max_updates=4))[1]
    asked = run_it(tmp_path / "asked", tiny.settings(max_updates=4, precision="bf16"), log=said.append)[1]
    assert same(plain, asked)
    assert "This device trains in fp32: bf16 is for GPUs." in said
    run_it(tmp_path / "third", tiny.settings(max_updates=4), log=(quiet := []).append)
    assert not any("bf16" in line for line in quiet)


def test_the_log_sums_up_all_pieces_of_a_batch(tmp_path):
    told = []
    for size in (None, 40):
        run = tiny.settings(parses=True, dropout=0.0, max_updates=4, log_every=1, batch={"device_size": size})
        lines = run_it(tmp_path / str(size), run, model=tiny.model_of(run).double())[2]
        told.append([line[key] for line in training_lines(lines) for key in ("loss", "nll", "loss/depparse", "tokens")])
    assert told[0] == pytest.approx(told[1])


@pytest.mark.parametrize("keep", ["last", "average"])
def test_a_run_that_does_not_keep_the_best_weights_does_not_take_them(tmp_path, keep):
    validation = {"every": 2, "metric": "bleu"}
    run = tiny.settings(max_updates=8, keep=keep, average=2, validation=validation, checkpoint_every=2)
    validate, seen = scores(9.0, 1.0, 2.0, 3.0)
    result, model, _ = run_it(tmp_path, run, validate=validate)
    assert result.best_update == 2
    for name, tensor in named_weights(model):
        mean = ((seen[2][name].double() + seen[3][name].double()) / 2).float()
        assert torch.equal(tensor, seen[3][name] if keep == "last" else mean)


def test_what_is_no_number_is_never_the_best():
    assert [is_better(score, None) for score in (math.nan, math.inf, -math.inf, -5.0)] == [False, False, False, True]
    assert [is_better(score, 1.0) for score in (math.nan, math.inf, 1.0, 1.5)] == [False, False, False, True]


def test_only_components_with_a_loss_have_a_term():
    components = random_model(RelativePositionsSettings(), DepParseSettings(layer=0)).components
    assert loss_names(components) == ("translation", "depparse")


def test_a_run_waits_for_a_better_score_as_often_as_its_settings_say(tmp_path):
    given = iter([5.0, 4.0, math.nan, 6.0, 6.0, 5.0, 9.0])
    run = tiny.settings(max_updates=24, validation={"every": 2, "metric": "bleu", "stop_after": 3})
    result = run_it(tmp_path, run, validate=lambda model: {"bleu": next(given, 0.0)})[0]
    assert (result.updates, result.best_update, result.stopped) == (20, 14, "no better bleu in 3 validations")
