"""Runs that are killed, asked to stop, or shared by two processes end as one that was left alone."""

import json
import os
import random
import re
import signal
import time

import pytest
import torch
from training.processes import end_of, final, finish, start, updates_in, wait_for_update


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The weights of a run that was left alone."""
    folder = tmp_path_factory.mktemp("alone")
    finish(folder, start(folder))
    return final(folder)


def test_a_run_killed_at_random_moments_ends_as_if_it_had_not_been(tmp_path, alone):
    generator, killed = random.Random(), 0
    for update in (5, 20):
        process = start(tmp_path, pause=0.01)
        wait_for_update(process, tmp_path, update)
        time.sleep(generator.uniform(0, 0.15))
        process.kill()
        killed += end_of(process, tmp_path)[1] == -signal.SIGKILL
        with open(tmp_path / "checkpoints" / "training.jsonl", "a") as log:
            log.write('{"update": 41')  # and in the middle of a line
    assert killed == 2
    finish(tmp_path, start(tmp_path))
    assert same(final(tmp_path), alone)
    assert updates_in(tmp_path) == (list(range(1, 41)), [7, 14, 21, 28, 35, 40])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGINT])
def test_a_signal_ends_the_run_at_once_with_a_checkpoint(tmp_path, alone, number):
    process = start(tmp_path, pause=0.02)
    wait_for_update(process, tmp_path, 5)
    os.kill(process.pid, number)
    output, code = end_of(process, tmp_path)
    assert code == 1
    assert f"Training was stopped by {signal.Signals(number).name} after update" in output
    stopped = int(output.partition("after update ")[2].partition(";")[0])
    assert (tmp_path / "checkpoints" / f"{stopped:08d}.json").exists()
    assert not (tmp_path / "checkpoints" / "lock").exists()
    finish(tmp_path, start(tmp_path))
    assert same(final(tmp_path), alone)
    assert updates_in(tmp_path)[0] == list(range(1, 41))


def test_a_retry_waits_for_the_attempt_that_lingers(tmp_path, alone):
    first = start(tmp_path, pause=0.05)
    wait_for_update(first, tmp_path, 5)
    second = start(tmp_path)
    output, code = end_of(second, tmp_path)
    assert (code, end_of(first, tmp_path)[1]) == (0, 0)
    assert f"process {first.pid} on" in output
    assert same(final(tmp_path), alone)
    assert updates_in(tmp_path)[0] == list(range(1, 41))


def test_two_processes_compute_what_one_does(tmp_path, together):
    settings = {"parses": True, "dropout": 0.0, "max_updates": 12, "clip_norm": 0.5}
    finish(tmp_path / "one", start(tmp_path / "one", settings=settings, float64=True))
    finish(tmp_path / "two", *together(tmp_path / "two", settings=settings, float64=True))
    one, two = final(tmp_path / "one"), final(tmp_path / "two")
    for name, tensor in one.items():
        torch.testing.assert_close(two[name], tensor, rtol=1e-8, atol=1e-9, msg=name)
    lines = [(tmp_path / which / "training.jsonl").read_text().splitlines() for which in ("one", "two")]
    for a, b in zip(*([json.loads(line) for line in half] for half in lines), strict=True):
        for key in ("tokens", "loss", "nll", "loss/depparse", "gradient", "rate", "best"):
            assert a.get(key, 0) == pytest.approx(b.get(key, 0), rel=1e-9)
        assert a.get("validation", {}) == pytest.approx(b.get("validation", {}), rel=1e-9)


def test_two_processes_do_not_share_their_dropout(tmp_path, together):
    processes = together(tmp_path, settings={"max_updates": 3, "seed": 7}, tells_seeds=True)
    for rank, process in enumerate(processes):
        output, code = end_of(process, tmp_path)
        assert code == 0, output
        assert re.findall("seeded with (.*)", output) == [f"7 {update} {rank}" for update in (1, 2, 3)]


def test_two_processes_that_are_killed_end_as_if_they_had_not_been(tmp_path, together):
    settings = {"max_updates": 30, "keep": "best", "validation": {"every": 6}}
    finish(tmp_path / "whole", *together(tmp_path / "whole", settings=settings))
    cut = tmp_path / "cut"
    both, one = together(cut, settings=settings, pause=0.01), []
    wait_for_update(both[0], cut, 5)
    time.sleep(random.uniform(0, 0.1))
    for process in both:
        process.kill()
    assert [end_of(process, cut)[1] for process in both] == [-signal.SIGKILL] * 2
    # Killed by itself, one leaves the other behind, which ends with a sentence.
    one = together(cut, settings=settings, pause=0.01)
    wait_for_update(one[0], cut, 12)
    one[0].kill()
    output, code = end_of(one[1], cut)
    assert code == 1
    assert "OtherProcessEnded: Another process of this training ended (" in output
    assert end_of(one[0], cut)[1] == -signal.SIGKILL
    finish(cut, *together(cut, settings=settings))
    assert same(final(cut), final(tmp_path / "whole"))
    assert updates_in(cut) == (list(range(1, 31)), [6, 12, 18, 24, 30])


def test_two_processes_stop_together_and_go_on(tmp_path, together):
    settings = {"max_updates": 30}
    finish(tmp_path / "whole", *together(tmp_path / "whole", settings=settings))
    cut = tmp_path / "cut"
    processes = together(cut, settings=settings, pause=0.02)
    wait_for_update(processes[0], cut, 5)
    os.kill(processes[1].pid, signal.SIGUSR1)
    for process in processes:
        output, code = end_of(process, cut)
        assert "Training was stopped by" in output
        assert code == 1
    finish(cut, *together(cut, settings=settings))
    assert same(final(cut), final(tmp_path / "whole"))
    assert updates_in(cut)[0] == list(range(1, 31))
