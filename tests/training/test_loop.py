"""The training loop: speed and time in the log, early stopping, epochs of components, and accuracy."""

import os
import signal
from types import SimpleNamespace

import factories
import numpy as np
import pytest
import torch
from training import tiny
from training.test_train import same_weights, train_tiny

from nmtcore.model.batch import make_batch
from nmtcore.model.components.base import Build, Component
from nmtcore.training.checkpoints import Checkpoints
from nmtcore.training.world import Interrupted


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
    """Speed does not count validations."""
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
    assert all(line["tokens_per_second"] == line["tokens"] for line in training_lines(lines))


def test_a_run_stops_after_the_given_number_of_validations_without_a_better_score(tmp_path):
    bleu = iter([5.0, 4.0, 4.0, 6.0, 6.0, 5.0, 9.0])
    run = tiny.settings(max_updates=24, validation={"every": 2, "metric": "bleu", "stop_after": 3})
    state = train_tiny(tmp_path, run, validate=lambda model: {"bleu": next(bleu, 0.0)})[0]
    assert (state.update, state.best_update, state.stopped) == (20, 14, "no better bleu in 3 validations")


class Epochs(Component):
    """A component whose loss is the epoch, as it is told."""

    def __init__(self):
        super().__init__(None, Build(name="epochs"))

    def add_to_batch(self, arrays):
        arrays.counts[self.name] = len(arrays.tokens_BS)

    def begin_epoch(self, epoch):
        self.epoch = epoch

    def loss(self, context):
        return torch.tensor(float(self.epoch * len(context.mask_BS)))


def test_components_know_the_epoch_also_in_a_validation_that_a_signal_interrupted(tmp_path):
    settings = {"batch": {"size": 400}, "checkpoint_every": 4, "log_every": 1}
    run = tiny.settings(max_updates=None, max_epochs=3, validation={"every": 1, "metric": "bleu"}, **settings)
    make = lambda: factories.build_tiny_model(run, vocabulary=tiny.VOCABULARY, extra_components=[Epochs()])
    _, whole, expected = train_tiny(tmp_path / "whole", run, model=make(), validate=lambda model: {"bleu": 1.0})
    updates = {line["update"]: line["epoch"] for line in training_lines(expected)}
    assert set(updates.values()) == {1, 2, 3}
    losses = [line.get("loss/epochs") or line["validation"]["loss/epochs"] for line in expected]
    assert losses == [line["epoch"] for line in expected]
    for last in (True, False):  # the last update of epoch 2, the first of epoch 3
        cut, calls = max(u for u, epoch in updates.items() if epoch == 2) + (not last), []

        def stop(model, cut=cut, calls=calls):
            calls.append(1)
            if len(calls) == cut:
                os.kill(os.getpid(), signal.SIGTERM)
            return {"bleu": 1.0}

        with pytest.raises(Interrupted, match=f"after update {cut};"):
            train_tiny(tmp_path / str(cut), run, model=make(), validate=stop)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        _, resumed, lines = train_tiny(tmp_path / str(cut), run, model=make(), validate=stop)
        assert [line.get("loss/epochs") or line["validation"]["loss/epochs"] for line in lines] == losses
        assert same_weights(whole, resumed)


def test_accuracy_is_a_mean_over_the_tags_of_the_development_set(tmp_path):
    run, dev = tiny.settings(tags={}, max_updates=8), tiny.examples(20, seed=1, unparsed=0.3)
    _, model, lines = train_tiny(tmp_path, run, data=(tiny.examples(120), dev))
    scores = [line["validation"] for line in lines if "validation" in line][-1]
    batch = make_batch(dev, np.arange(20), model.components)
    with torch.no_grad():
        predicted_N = model.eval().tag_scores(batch).argmax(dim=1)
    tags_N = batch.extra["tag_attention.tags"]
    correct = [bool(p == tag) for p, tag in zip(predicted_N, tags_N, strict=True) if tag]
    assert scores["accuracy/tag_attention"] == pytest.approx(sum(correct) / len(correct))
