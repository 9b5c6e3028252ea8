"""Resuming restores the schedule, and all processes start with the same weights."""

import os
import signal

import pytest
import torch
from training import tiny
from training.processes import final_weights, finish
from training.test_train import bleu_scores, same_weights, train_tiny

from nmtcore.training.world import Interrupted


def test_a_lowered_rate_stays_lowered_after_resuming(tmp_path):
    settings = {
        "schedule": {"kind": "plateau", "peak": 0.01, "warmup": 0, "patience": 0},
        "validation": {"every": 2, "metric": "bleu"},
        "checkpoint_every": 2,
        "log_every": 1,
    }
    bleu = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0]
    whole = train_tiny(tmp_path / "whole", tiny.settings(max_updates=12, **settings), validate=bleu_scores(*bleu)[0])
    train_tiny(tmp_path / "cut", tiny.settings(max_updates=6, **settings), validate=bleu_scores(*bleu[:3])[0])
    resumed = train_tiny(
        tmp_path / "cut", tiny.settings(max_updates=12, **settings), validate=bleu_scores(*bleu[3:])[0]
    )
    rates = [[line["rate"] for line in lines if "rate" in line] for _, _, lines in (whole, resumed)]
    assert rates[0] == rates[1]
    assert len(set(rates[0])) == 5
    assert same_weights(whole[1], resumed[1])


def test_a_validation_that_is_repeated_is_logged_once(tmp_path):
    """A signal interrupts it; it is repeated, and the process is killed before the next checkpoint."""
    validation = {"every": 3, "metric": "bleu"}
    run = tiny.settings(max_updates=6, validation=validation, checkpoint_every=100, log_every=1)
    scores = iter([float("nan")])
    with pytest.raises(Interrupted):
        train_tiny(tmp_path, run, validate=lambda model: os.kill(os.getpid(), signal.SIGTERM))
    with pytest.raises(StopIteration):
        train_tiny(tmp_path, run, validate=lambda model: {"bleu": next(scores)})
    lines = train_tiny(tmp_path, run, validate=lambda model: {"bleu": 1.0})[2]
    assert [line["update"] for line in lines if "validation" in line] == [3, 6]
    assert [line["update"] for line in lines if "loss" in line] == [1, 2, 3, 4, 5, 6]


def test_all_processes_start_with_the_weights_of_the_first(tmp_path, start_pair):
    settings = {"max_updates": 6}
    finish(tmp_path / "alike", *start_pair(tmp_path / "alike", settings=settings))
    finish(tmp_path / "unlike", *start_pair(tmp_path / "unlike", settings=settings, zeroed_rank=1))
    alike, unlike = final_weights(tmp_path / "alike"), final_weights(tmp_path / "unlike")
    assert all(torch.equal(alike[name], unlike[name]) for name in alike)
