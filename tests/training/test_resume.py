"""What goes on where a checkpoint stands, on all devices alike."""

from types import SimpleNamespace

import pytest
import torch
from training import tiny
from training.processes import final, finish
from training.test_train import run_it, same, scores

from nmtcore.training.checkpoints import named_weights
from nmtcore.training.resume import resume
from nmtcore.training.state import TrainingState


def test_a_lowered_rate_stays_lowered(tmp_path):
    settings = {
        "schedule": {"kind": "plateau", "peak": 0.01, "warmup": 0, "patience": 0},
        "validation": {"every": 2, "metric": "bleu"},
        "checkpoint_every": 2,
        "log_every": 1,
    }
    said = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0]
    whole = run_it(tmp_path / "whole", tiny.settings(max_updates=12, **settings), validate=scores(*said)[0])
    run_it(tmp_path / "cut", tiny.settings(max_updates=6, **settings), validate=scores(*said[:3])[0])
    again = run_it(tmp_path / "cut", tiny.settings(max_updates=12, **settings), validate=scores(*said[3:])[0])
    rates = [[line["rate"] for line in lines if "rate" in line] for _, _, lines in (whole, again)]
    assert rates[0] == rates[1]
    assert len(set(rates[0])) == 5
    assert same(whole[1], again[1])


def test_all_processes_begin_with_the_first_ones_weights(tmp_path, together):
    settings = {"max_updates": 6}
    finish(tmp_path / "alike", *together(tmp_path / "alike", settings=settings))
    finish(tmp_path / "unlike", *together(tmp_path / "unlike", settings=settings, strange=1))
    one, other = final(tmp_path / "alike"), final(tmp_path / "unlike")
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_only_the_first_process_looks_for_checkpoints():
    """For what it finds damaged it removes."""
    run = tiny.settings()
    loaded = []
    store = SimpleNamespace(
        newest=lambda: pytest.fail("it looked too"),
        load=lambda update, model, optimiser: loaded.append(update) or TrainingState(update=update),
    )
    team = SimpleNamespace(main=False, device=torch.device("cpu"), total=lambda numbers: [numbers[0] + 5.0])
    running = resume(run, tiny.model_of(run), store, team)
    assert (loaded, running.state.update) == ([5], 5)
    assert list(running.optimiser.parameters) == [name for name, _ in named_weights(running.model)]
