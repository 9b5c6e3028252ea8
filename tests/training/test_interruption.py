"""Runs that are killed, stopped by a signal or trained in two processes end with the weights of an undisturbed run."""

import json
import os
import random
import signal
import time

import pytest
import torch
from training.processes import end_of, final_weights, finish, logged_updates, start, start_pair, wait_for_update

from nmtcore.training.checkpoints import Checkpoints


def same_tensors(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The final weights of an undisturbed run."""
    folder = tmp_path_factory.mktemp("undisturbed")
    finish(folder, start(folder))
    return final_weights(folder)


def test_a_run_killed_at_random_times_ends_with_the_same_weights(tmp_path, undisturbed):
    generator, killed = random.Random(), 0
    for update in (5, 20):
        process = start(tmp_path, pause=0.01)
        wait_for_update(process, tmp_path, update)
        time.sleep(generator.uniform(0, 0.15))
        process.kill()
        killed += end_of(process, tmp_path)[1] == -signal.SIGKILL
        with open(tmp_path / "checkpoints" / "training.jsonl", "a") as log:
            log.write('{"update": 41')  # the process was killed in the middle of a line
    assert killed == 2
    finish(tmp_path, start(tmp_path))
    assert logged_updates(tmp_path) == (list(range(1, 41)), [7, 14, 21, 28, 35, 40])
    assert same_tensors(final_weights(tmp_path), undisturbed)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_run_after_writing_a_checkpoint(tmp_path, undisturbed, number):
    process = start(tmp_path, pause=0.02)
    wait_for_update(process, tmp_path, 5)
    os.kill(process.pid, number)
    output, code = end_of(process, tmp_path)
    assert code == 1
    assert f"Training was stopped by {signal.Signals(number).name} after update" in output
    stopped = int(output.partition("after update ")[2].partition(";")[0])
    assert stopped in Checkpoints(tmp_path / "checkpoints").paths()
    finish(tmp_path, start(tmp_path))
    assert same_tensors(final_weights(tmp_path), undisturbed)
    assert logged_updates(tmp_path)[0] == list(range(1, 41))


def test_two_processes_compute_the_same_as_one(tmp_path):
    settings = {"parses": True, "tags": {}, "dropout": 0.0, "max_updates": 14, "clip_norm": 0.5}
    finish(tmp_path / "one", start(tmp_path / "one", settings=settings, float64=True))
    finish(tmp_path / "two", *start_pair(tmp_path / "two", settings=settings, float64=True))
    expected, actual = final_weights(tmp_path / "one"), final_weights(tmp_path / "two")
    for name, tensor in expected.items():
        torch.testing.assert_close(actual[name], tensor, rtol=1e-8, atol=1e-9, msg=name)
    lines = [(tmp_path / folder / "training.jsonl").read_text().splitlines() for folder in ("one", "two")]
    for a, b in zip(*([json.loads(line) for line in log] for log in lines), strict=True):
        for key in ("tokens", "loss", "nll", "loss/depparse", "gradient", "rate", "best"):
            assert a.get(key, 0) == pytest.approx(b.get(key, 0), rel=1e-9)
        assert a.get("validation", {}) == pytest.approx(b.get("validation", {}), rel=1e-9)


def test_when_one_process_fails_the_other_ends_too(tmp_path):
    processes = start_pair(tmp_path, failing_rank=1, settings={"max_updates": 30})
    ends = [end_of(process, tmp_path) for process in processes]
    assert [code for _, code in ends] == [1, 1]
    sentence = "The GPU's memory is full (CUDA out of memory. Tried to allocate 2.00 GiB). Lower machine."
    assert sentence in ends[1][0]
    assert "OtherProcessEnded: Another process of this training ended (" in ends[0][0]
