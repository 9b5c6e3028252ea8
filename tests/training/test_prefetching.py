"""Batches that a thread makes in advance: the same training, errors where they belong, and no thread left behind."""

import os
import signal
import threading

import pytest
import torch
from training import tiny
from training.test_train import same_weights, train_tiny

from nmtcore.config.training import BatchSettings
from nmtcore.model.components.base import Build, Component
from nmtcore.training.prefetching import Prefetcher, prefetched_updates
from nmtcore.training.signals import Interrupted
from nmtcore.training.training_data import TrainingData

CPU = torch.device("cpu")


def threads():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("batches")]


class Recorder(Component):
    """Remembers what a batch could depend on when it is made: the epochs and the validations so far."""

    def __init__(self) -> None:
        super().__init__(None, Build(name="recorder"))
        self.epoch, self.validations, self.seen = 0, 0, []

    def begin_epoch(self, epoch):
        self.epoch = epoch

    def after_validation(self, scores):
        self.validations += 1

    def add_to_batch(self, arrays, examples):
        self.seen.append((self.epoch, self.validations, examples.id.tolist()))


def trained(folder, *, prefetch, system="plain", stop=None):
    """Train over four epochs and three validations, resuming after update `stop` if given."""
    options = {"tags": {"returns_below": 0.9, "decay": 0.4}} if system == "tags" else {"parses": system == "treebank"}
    batch, settings = {"prefetch": prefetch, "device_size": 60}, {"max_updates": 24, "checkpoint_every": 5}
    for updates in [stop, 24] if stop else [24]:
        run = tiny.settings(batch=batch, **options, **settings | {"max_updates": updates})
        data = {}
        if system == "treebank":
            run, data = tiny.on_treebank(run, size=100), {"treebank": tiny.treebank()}
        model, recorder = tiny.model_of(run), Recorder()
        model.components.append(recorder)
        state, model, lines = train_tiny(folder, run, model=model, **data)
    assert state.epoch >= 2
    assert not threads()
    timeless = [{k: v for k, v in line.items() if "second" not in k and k != "memory"} for line in lines]
    return model, recorder.seen, timeless


@pytest.mark.parametrize(("system", "stop"), [("plain", None), ("treebank", 6), ("tags", 6)])
def test_training_is_the_same_bit_for_bit(tmp_path, system, stop):
    expected, seen, lines = trained(tmp_path / "none", prefetch=0, system=system, stop=stop)
    assert {epoch for epoch, _, _ in seen} >= {2, 3}
    assert {validations for _, validations, _ in seen} == {0, 1, 2}
    model, other_seen, other_lines = trained(tmp_path / "two", prefetch=2, system=system, stop=stop)
    assert same_weights(model, expected)
    assert other_seen == seen
    assert other_lines == lines


@pytest.mark.parametrize(("setting", "on_cpu", "on_gpu"), [(None, 0, 1), (0, 0, 0), (2, 2, 2)])
def test_by_default_only_a_gpu_has_a_thread(setting, on_cpu, on_gpu):
    settings = BatchSettings(prefetch=setting)
    devices = CPU, torch.device("cuda", 0)
    assert [prefetched_updates(settings, device) for device in devices] == [on_cpu, on_gpu]


@pytest.mark.parametrize("ahead", [0, 1, 4])
def test_an_error_is_raised_at_the_update_that_it_concerns(ahead):
    def maker(update):
        return lambda: [update // (update != 2)]

    prefetcher = Prefetcher(ahead=ahead, device=CPU)
    assert [prefetcher.take(update, maker, end=2) for update in (0, 1)] == [[0], [1]]
    with pytest.raises(ZeroDivisionError):
        prefetcher.take(2, maker, end=9)
    prefetcher.close()
    assert not threads()


def test_batches_after_the_end_are_not_begun():
    begun = []

    def maker(update):
        return lambda: begun.append(update) or []

    prefetcher = Prefetcher(ahead=3, device=CPU)
    for update in range(5):
        prefetcher.take(update, maker, end=5)
    prefetcher.close()
    assert begun == [0, 1, 2, 3, 4]


def test_an_error_in_the_thread_ends_training_and_the_thread(tmp_path, monkeypatch):
    make, steps = TrainingData.make_batches, []

    def fail(self, rows_B, update, *arguments):
        if update == 3:
            raise OSError("the disk is gone")
        return make(self, rows_B, update, *arguments)

    monkeypatch.setattr(TrainingData, "make_batches", fail)
    run = tiny.settings(batch={"prefetch": 2})
    model = tiny.model_of(run)
    model.register_forward_pre_hook(lambda *_: steps.append(1))
    with pytest.raises(OSError, match="the disk is gone"):
        train_tiny(tmp_path, run, model=model)
    assert len(steps) == 3
    assert not threads()


def test_a_signal_ends_the_thread(tmp_path):
    run = tiny.settings(batch={"prefetch": 2})
    model, steps = tiny.model_of(run), []

    def stop(*_):
        steps.append(1)
        if len(steps) == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    model.register_forward_pre_hook(stop)
    with pytest.raises(Interrupted, match="after update 2"):
        train_tiny(tmp_path, run, model=model)
    assert not threads()
