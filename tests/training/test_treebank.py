"""Training on the gold trees of a treebank, beside translation pairs and alone."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from training import tiny
from training.processes import final, finish, start, updates_in, wait_for_update
from training.test_train import run_it, same

from nmtcore.errors import UserError
from nmtcore.model.batch import make_batch
from nmtcore.training.batch_plan import EndlessPlan, Plan
from nmtcore.training.checkpoints import named_weights
from nmtcore.training.training_data import prepare_training_data


def close(model, other):
    for (name, a), (_, b) in zip(named_weights(model), named_weights(other), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-8, atol=1e-9, msg=name)


def pairs_without_trees(n=120):
    """Pairs as a run on treebanks reads them: their trees are not even loaded."""
    pairs = tiny.examples(n)
    pairs.source.features.clear()
    return pairs


@pytest.mark.parametrize("pairs", [True, False])
def test_the_parser_learns_the_treebank(tmp_path, pairs):
    every = {"log_every": 1, "checkpoint_every": 50, "validation": {"every": 50}}
    run = tiny.on_treebank(tiny.settings(parses=True, dropout=0.0, max_updates=150, **every), pairs=pairs)
    train = pairs_without_trees(400) if pairs else None
    data = train, tiny.examples(20, seed=1, longest=5)
    result, model, lines = run_it(tmp_path, run, data=data, treebank=tiny.treebank(300, longest=5))
    training = [line for line in lines if "validation" not in line]
    assert training[0]["loss/depparse"] > 0.5
    assert training[-1]["loss/depparse"] < 0.1
    assert result.scores["loss/depparse"] < 0.1
    assert training[-1]["loss"] < training[0]["loss"]
    assert math.isfinite(training[-1]["gradient"])
    if pairs:
        assert training[-1]["perplexity"] < training[0]["perplexity"]
        return
    assert all(line["tokens"] == 0 and line["perplexity"] is line["nll"] is None for line in training)
    assert all(line["loss"] == pytest.approx(line["loss/depparse"]) for line in training)
    before = dict(named_weights(tiny.model_of(run)))
    moved = {name.split(".")[0] for name, tensor in named_weights(model) if not torch.equal(tensor, before[name])}
    assert "encoder" in moved
    assert "decoder" not in moved


def test_one_update_divides_every_term_by_its_own_count(tmp_path):
    run = tiny.settings(parses=True, dropout=0.0, max_updates=1, batch={"device_size": 40})
    run = tiny.on_treebank(run, size=90)
    data, bank = (tiny.examples(120), tiny.examples(20, seed=1)), tiny.treebank(unparsed=0.2)
    _, model, (line, *_) = run_it(tmp_path, run, data=data, treebank=bank, model=tiny.model_of(run).double())

    expected = tiny.model_of(run).double()
    found = prepare_training_data(run, expected, *data, print, treebank=bank)
    pairs = make_batch(data[0], found.plan(0)[0], expected.components)
    trees = make_batch(bank, found.beside.plan(0)[0], expected.components)
    assert 45 < int(trees.source_mask_BS.sum()) <= 90
    words, _ = expected.loss(pairs, label_smoothing=0.1, smoothing_over="all").parts
    (heads,) = expected.loss(trees).parts
    objective = words.sum / pairs.tokens + heads.sum / heads.count
    objective.backward()
    assert line["loss"] == pytest.approx(objective.item())
    assert line["loss/depparse"] == pytest.approx((heads.sum / heads.count).item())
    assert line["tokens"] == pairs.tokens
    rate = run.training.schedule.peak / run.training.schedule.warmup
    torch.optim.Adam(expected.parameters(), lr=rate, betas=(0.9, 0.98), eps=1e-9).step()
    for (name, a), (_, b) in zip(named_weights(model), named_weights(expected), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-8, msg=name)


def test_without_weight_a_treebank_changes_nothing(tmp_path):
    """Dropout on, so that nothing else may draw random numbers before the pairs do."""
    run = tiny.settings(parses=True, max_updates=12)
    run = replace(run, components={name: replace(c, weight=0.0) for name, c in run.components.items()})
    plain = run_it(tmp_path / "plain", run)[1]
    beside = run_it(tmp_path / "beside", tiny.on_treebank(run), treebank=tiny.treebank())[1]
    assert same(plain, beside)


@pytest.mark.parametrize("pairs", [True, False])
def test_accumulation_changes_nothing(tmp_path, pairs):
    models = []
    for device_size in (None, 40, 1):
        run = tiny.settings(parses=True, dropout=0.0, max_updates=5, batch={"device_size": device_size})
        run = tiny.on_treebank(run, pairs=pairs, size=100)
        data = tiny.examples(120) if pairs else None, tiny.examples(20, seed=1)
        folder, model = tmp_path / str(device_size), tiny.model_of(run).double()
        models.append(run_it(folder, run, data=data, treebank=tiny.treebank(unparsed=0.3), model=model)[1])
    for other in models[1:]:
        close(models[0], other)


SETTINGS = {"parses": True, "max_updates": 24}


@pytest.mark.parametrize("pairs", [True, False])
def test_a_run_that_is_killed_ends_as_one_that_was_not(tmp_path, pairs):
    how = {"settings": SETTINGS, "treebank": {"pairs": pairs, "size": 120}}
    finish(tmp_path / "whole", start(tmp_path / "whole", **how))
    process = start(tmp_path / "cut", pause=0.01, **how)
    wait_for_update(process, tmp_path / "cut", 10)
    process.kill()
    process.join()
    finish(tmp_path / "cut", start(tmp_path / "cut", **how))
    one, other = final(tmp_path / "whole"), final(tmp_path / "cut")
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert updates_in(tmp_path / "cut")[0] == list(range(1, 25))


@pytest.mark.parametrize("pairs", [True, False])
def test_two_processes_compute_what_one_does(tmp_path, together, pairs):
    how = {"settings": {**SETTINGS, "dropout": 0.0, "max_updates": 9}, "treebank": {"pairs": pairs}, "float64": True}
    finish(tmp_path / "one", start(tmp_path / "one", **how))
    finish(tmp_path / "two", *together(tmp_path / "two", **how))
    one, two = final(tmp_path / "one"), final(tmp_path / "two")
    for name, tensor in one.items():
        torch.testing.assert_close(two[name], tensor, rtol=1e-8, atol=1e-9, msg=name)
    lines = [(tmp_path / which / "training.jsonl").read_text().splitlines() for which in ("one", "two")]
    for a, b in zip(*([json.loads(line) for line in half] for half in lines), strict=True):
        for key in ("tokens", "loss", "loss/depparse", "gradient", "rate"):
            assert a.get(key, 0) == pytest.approx(b.get(key, 0), rel=1e-9)


def test_epochs_of_a_treebank_alone_end_training(tmp_path):
    run = tiny.on_treebank(tiny.settings(parses=True, max_updates=None, max_epochs=2), pairs=False)
    dev, bank = tiny.examples(20, seed=1), tiny.treebank()
    result, model, _ = run_it(tmp_path, run, data=(None, dev), treebank=bank)
    plan = prepare_training_data(run, model, None, dev, print, treebank=bank).plan
    assert (result.epochs, result.updates) == (2, len(plan(0)) + len(plan(1)))


def test_a_walk_gives_each_epochs_batches_in_turn_wherever_it_is():
    lengths = [3, 1, 2]

    def plan(epoch):
        n = lengths[epoch % 3]
        rows = np.arange(n) + 100 * epoch
        return Plan(rows=rows, starts=np.arange(n), ends=np.arange(n) + 1)

    expected = [100 * epoch + step for epoch in range(7) for step in range(lengths[epoch % 3])]
    walk = EndlessPlan(plan)
    assert [int(walk[n][0]) for n in range(len(expected))] == expected
    assert [int(walk[n][0]) for n in (9, 2, 0, 11, 11)] == [expected[n] for n in (9, 2, 0, 11, 11)]
    assert int(EndlessPlan(plan)[8][0]) == expected[8]


def test_what_trains_nothing_is_said(tmp_path):
    said = []
    run = tiny.on_treebank(tiny.settings(parses=True, max_updates=2, batch={"max_length": 6}))
    data, bank = (pairs_without_trees(), tiny.examples(20, seed=1)), tiny.treebank(unparsed=0.2)
    run_it(tmp_path / "some", run, data=data, treebank=bank, log=said.append)
    lengths = bank.source.ids.lengths
    lacking = sum(row[0] == -2 for row in bank.source.features["governor"] if len(row) <= 6)
    assert f"{(lengths > 6).sum()} of 60 sentences of treebanks have over 6 subwords: left out." in said
    assert f"{lacking} of {(lengths <= 6).sum()} sentences of treebanks have no tree: they train nothing." in said
    with pytest.raises(UserError, match=r"None of the 60 sentences of treebank_tiny \(tiny\) has a tree"):
        run_it(tmp_path / "none", run, data=data, treebank=tiny.treebank(unparsed=1.0))
    run = tiny.on_treebank(tiny.settings(parses=True, max_updates=2, batch={"max_length": None}))
    with pytest.raises(UserError, match=r"None of the 60 sentences of treebank_tiny \(tiny\) has a tree: nothing"):
        run_it(tmp_path / "unlimited", run, data=data, treebank=tiny.treebank(unparsed=1.0))
