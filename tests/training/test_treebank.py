"""Training on the gold trees of a treebank, together with sentence pairs or alone."""

import itertools
from dataclasses import replace

import pytest
import torch
from training import tiny
from training.test_train import messages_of, same_weights, train_tiny

from nmtcore.errors import UserError
from nmtcore.training.checkpoints import named_weights
from nmtcore.training.data import prepare_training_data


def test_the_parser_learns_from_the_treebank_alone(tmp_path):
    intervals = {"log_every": 1, "checkpoint_every": 50, "validation": {"every": 50}}
    run = tiny.on_treebank(tiny.settings(parses=True, dropout=0.0, max_updates=150, **intervals), pairs=False)
    data = None, tiny.examples(20, seed=1, longest=5)
    state, model, lines = train_tiny(tmp_path, run, data=data, treebank=tiny.treebank(300, longest=5))
    training = [line for line in lines if "validation" not in line]
    assert training[0]["loss/depparse"] > 0.5
    assert max(training[-1]["loss/depparse"], state.scores["loss/depparse"]) < 0.1
    assert all(line["tokens"] == 0 and line["perplexity"] is line["nll"] is None for line in training)
    assert all(line["loss"] == pytest.approx(line["loss/depparse"]) for line in training)
    before = dict(named_weights(tiny.model_of(run)))
    moved = {name.split(".")[0] for name, tensor in named_weights(model) if not torch.equal(tensor, before[name])}
    assert "encoder" in moved
    assert "decoder" not in moved


def test_a_treebank_whose_losses_have_weight_zero_changes_nothing(tmp_path):
    """With dropout, so that the test also fails if random numbers are drawn before the pairs' batches."""
    run = tiny.settings(parses=True, max_updates=12)
    run = replace(run, components={name: replace(c, weight=0.0) for name, c in run.components.items()})
    plain = train_tiny(tmp_path / "plain", run)[1]
    with_treebank = train_tiny(tmp_path / "treebank", tiny.on_treebank(run), treebank=tiny.treebank())[1]
    assert same_weights(plain, with_treebank)


def test_batches_of_a_treebank_go_on_from_any_number():
    run = tiny.on_treebank(tiny.settings(parses=True), size=90)
    data = tiny.examples(20), tiny.examples(20, seed=1)
    trees = prepare_training_data(run, tiny.model_of(run), *data, print, treebank=tiny.treebank()).auxiliary
    expected = [plan[step].tolist() for plan in map(trees.plan, range(3)) for step in range(len(plan))]
    for first in (0, 1, len(expected) - 2):
        batches = itertools.islice(trees.batches_from(first), len(expected) - first)
        assert [rows.tolist() for rows in batches] == expected[first:]


def test_sentences_that_train_nothing_are_counted():
    run = tiny.on_treebank(tiny.settings(parses=True, batch={"max_length": 6}))
    data, gold_trees = (tiny.examples(120), tiny.examples(20, seed=1)), tiny.treebank(unparsed=0.2)
    data[0].source.features.clear()  # a run on treebanks does not load them
    lengths = gold_trees.source.ids.lengths
    unparsed = sum(row[0] == -2 for row in gold_trees.source.features["governor"] if len(row) <= 6)
    over = (data[0].source.ids.lengths > 6).sum()
    assert messages_of(run, *data, treebank=gold_trees) == [
        f"{over} of 120 training pairs have more than 6 subwords: left out.",
        f"{(lengths > 6).sum()} of 60 treebank sentences have more than 6 subwords: left out.",
        f"{unparsed} of {(lengths <= 6).sum()} treebank sentences have no tree: training ignores them.",
    ]
    with pytest.raises(UserError, match=r"None of the \d+ short enough sentences of treebank_tiny \(tiny\) has a tree"):
        messages_of(run, *data, treebank=tiny.treebank(unparsed=1.0))
