"""Training from the first update to the final weights: results, logs, messages and errors."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from training import tiny

from nmtcore.errors import UserError
from nmtcore.model.batch import make_batch
from nmtcore.training.checkpoints import Checkpoints, named_weights
from nmtcore.training.data import prepare_training_data
from nmtcore.training.trainer import train
from nmtcore.training.update import perplexity


def train_tiny(folder, run, *, data=None, **options):
    """Train in this process; return the state of the last checkpoint, the model, and the lines of the log."""
    model = options.pop("model", None) or tiny.model_of(run)
    log = options.pop("log", lambda line: None)
    data = data or (tiny.examples(120, unparsed=0.3), tiny.examples(20, seed=1))
    train(run, model, *data, log_folder=folder, checkpoint_folder=folder / "checkpoints", log=log, **options)
    lines = [json.loads(line) for line in (folder / "training.jsonl").read_text().splitlines()]
    checkpoints = Checkpoints(folder / "checkpoints")
    return checkpoints.state(checkpoints.newest()), model, lines


def same_weights(model, other):
    return all(torch.equal(a, b) for (_, a), (_, b) in zip(named_weights(model), named_weights(other), strict=True))


def test_very_long_dev_pairs_are_named_and_left_out_of_the_losses(monkeypatch):
    for module in ("features.sources", "training.data"):
        monkeypatch.setattr(f"nmtcore.{module}.MAX_SUBWORDS", 7)
    run, train, dev = tiny.settings(), tiny.examples(20), tiny.examples(20, seed=1)
    dev = replace(dev, id=np.where(np.arange(20) % 2, dev.id, -1 - dev.id))  # a transform's rows have negative ids
    (long,) = np.flatnonzero(dev.source.ids.lengths > 7)[:1].tolist()
    dev = dev.take(np.array([0, 1, long]))
    messages = []
    data = prepare_training_data(run, tiny.model_of(run), train, dev, messages.append)
    left_out = "have more than 7 subwords on a side: left out of the losses of validations"
    assert messages == [f"1 of 3 dev examples {left_out} (dev, line {long + 1})."]
    assert (data.dev.id.tolist(), len(data.dev_batches)) == ([-1, 1], 1)
    with pytest.raises(UserError, match="have more than 7 subwords on a side: there is nothing to validate on"):
        messages_of(run, train, dev.take(np.array([2])))


@pytest.mark.parametrize("gold_trees", [None, tiny.treebank(unparsed=0.2)], ids=["pairs", "treebank"])
def test_one_update_is_adam_on_the_mean_of_every_term(tmp_path, gold_trees):
    """Some sentences have no tree, and the batch is cut into pieces, which changes nothing."""
    run = tiny.settings(parses=True, dropout=0.0, max_updates=1, batch={"device_size": 40}, clip_norm=0.5)
    run = run if gold_trees is None else tiny.on_treebank(run, size=90)
    data = tiny.examples(120, unparsed=0.3), tiny.examples(20, seed=1)
    _, model, (line, *_) = train_tiny(tmp_path, run, data=data, treebank=gold_trees, model=tiny.model_of(run).double())

    expected = tiny.model_of(run).double()
    prepared = prepare_training_data(run, expected, *data, print, treebank=gold_trees)
    batch = make_batch(data[0], prepared.main.plan(0)[0], expected.components)
    words, heads = expected.loss(batch, label_smoothing=0.1, smoothing_over="all").parts
    if gold_trees is not None:
        batch_of_trees = make_batch(gold_trees, prepared.auxiliary.plan(0)[0], expected.components)
        assert 45 < int(batch_of_trees.source_mask_BS.sum()) <= 90
        (heads,) = expected.loss(batch_of_trees).parts
    assert 0 < heads.count < int(batch.source_mask_BS.sum())
    terms = words.sum / batch.tokens, heads.sum / heads.count
    assert [line[f"loss/{name}"] for name in ("translation", "depparse")] == pytest.approx([t.item() for t in terms])
    assert (line["loss"], line["tokens"]) == (pytest.approx(sum(terms).item()), batch.tokens)
    sum(terms).backward()
    torch.nn.utils.clip_grad_norm_(expected.parameters(), 0.5)
    rate = run.training.schedule.peak / run.training.schedule.warmup
    torch.optim.Adam(expected.parameters(), lr=rate, betas=(0.9, 0.98), eps=1e-9).step()
    for (name, a), (_, b) in zip(named_weights(model), named_weights(expected), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-8, msg=name)


def test_validation_does_not_disturb_training(tmp_path):
    seldom = train_tiny(tmp_path / "a", tiny.settings(max_updates=10, validation={"every": 10}))[1]

    def draw(model):
        assert not model.training
        return {"bleu": float(torch.rand(()))}

    often = train_tiny(tmp_path / "b", tiny.settings(max_updates=10, validation={"every": 1}), validate=draw)[1]
    assert same_weights(seldom, often)


def bleu_scores(*values):
    """Make a `validate` that returns these BLEU scores; return it and a list of the weights at each validation."""
    weights = []

    def validate(model):
        weights.append({name: tensor.detach().clone() for name, tensor in named_weights(model)})
        return {"bleu": values[len(weights) - 1]}

    return validate, weights


BLEU = {"every": 2, "metric": "bleu"}


def test_the_best_weights_are_kept(tmp_path):
    """A score that is not finite is never the best."""
    validate, weights = bleu_scores(math.inf, 5.0, 3.0, math.nan, 5.0)
    run = tiny.settings(max_updates=10, keep="best", validation=BLEU, checkpoint_every=3)
    state, model, _ = train_tiny(tmp_path, run, validate=validate)
    assert (state.best_update, state.best_score, state.scores["bleu"]) == (4, 5.0, 5.0)
    assert all(torch.equal(tensor, weights[1][name]) for name, tensor in named_weights(model))


def test_the_last_checkpoints_are_averaged_and_a_finished_run_is_not_trained_again(tmp_path):
    validate, weights = bleu_scores(*range(5))
    run = tiny.settings(max_updates=10, keep="average", average=3, validation=BLEU, checkpoint_every=2)
    state, model, lines = train_tiny(tmp_path, run, validate=validate)
    for name, tensor in named_weights(model):
        mean = sum(s[name].double() for s in weights[2:]) / 3
        torch.testing.assert_close(tensor, mean.float(), rtol=1e-5, atol=1e-6)
    fresh = tiny.model_of(run)
    tiny.around_loss(fresh, before=lambda: pytest.fail("trained again"))
    again, repeated, repeated_lines = train_tiny(tmp_path, run, model=fresh, validate=validate)
    assert same_weights(model, repeated)
    assert (again, repeated_lines) == (state, lines)


def test_training_ends_after_the_last_epoch(tmp_path):
    """The log has every update once, and each target token once per epoch."""
    run = tiny.settings(max_epochs=2, max_updates=None)
    state, _, lines = train_tiny(tmp_path, run)
    training = [line for line in lines if "validation" not in line]
    assert sum(line["updates"] for line in training) == state.update
    assert {line["update"] for line in training} >= set(range(3, state.update + 1, 3))
    assert [line["update"] for line in lines if "validation" in line] == [8, state.update]
    assert all(line["perplexity"] == pytest.approx(perplexity(line["nll"])) for line in training)
    model = tiny.model_of(run)
    data = prepare_training_data(run, model, tiny.examples(120, unparsed=0.3), tiny.examples(20, seed=1), print)
    assert state.update == len(data.main.plan(0)) + len(data.main.plan(1))
    assert state.epoch == 2
    # The validation after the last update is of the second epoch, too.
    assert [(line["update"], line["epoch"]) for line in lines[-2:]] == [(state.update, 2)] * 2
    assert "validation" in lines[-1]
    pairs = data.main.examples
    tokens = int(pairs.target.ids.lengths.sum()) + len(pairs)
    assert sum(line.get("tokens", 0) for line in lines) == 2 * tokens


def messages_of(run, train, dev, **options):
    """Prepare data for training; return what is logged about them."""
    messages = []
    prepare_training_data(run, tiny.model_of(run), train, dev, messages.append, **options)
    return messages


@pytest.mark.parametrize(
    ("longest", "train", "dev", "sentence"),
    [
        (6, 0, 20, r"There are no training pairs of tiny: there is nothing to train on\."),
        (6, 20, 0, r"The dev set of tiny is empty: there is nothing to validate on\."),
        (1, 20, 20, r"None of the \d+ training pairs of tiny has at most 1 subwords on each side: there is"),
    ],
)
def test_nothing_to_train_on_is_an_error(longest, train, dev, sentence):
    pairs, run = tiny.examples(train), tiny.settings(batch={"max_length": longest})
    pairs = pairs.take(np.flatnonzero(pairs.source.ids.lengths > 1))
    with pytest.raises(UserError, match=sentence):
        messages_of(run, pairs, tiny.examples(dev, seed=1))


@pytest.mark.parametrize(
    ("recurrent", "problem"),
    [
        (False, "the loss is not finite"),
        (True, r"the scores of the trees of the source sentence with the id \d+ are not finite"),
    ],
)
def test_divergence_is_an_error_and_harms_no_checkpoint(tmp_path, recurrent, problem):
    seldom = {"log_every": 100, "validation": {"every": 100}}
    run = tiny.settings(recurrent=recurrent, max_updates=12, checkpoint_every=4, **seldom)
    model, calls = tiny.model_of(run), []

    def make_infinite(losses=None):
        calls.append(1)
        if len(calls) == 7:
            diverging = model.components[0].queries.weight if recurrent else losses.parts[0].sum
            diverging.data.fill_(math.inf)

    tiny.around_loss(model, **({"before": make_infinite} if recurrent else {"after": make_infinite}))
    with pytest.raises(UserError) as error:
        train_tiny(tmp_path, run, model=model)
    assert re.fullmatch(
        rf"Training diverged: {problem} at update 7 \(learning rate 0\.0035\)\. Lower .* checkpoints are intact\.",
        str(error.value),
    )
    assert list(Checkpoints(tmp_path / "checkpoints").paths()) == [4]
    # From that checkpoint, training resumes as if nothing had been infinite.
    state, resumed, _ = train_tiny(tmp_path, run)
    assert state.update == 12
    assert same_weights(resumed, train_tiny(tmp_path / "whole", run)[1])


def test_a_full_memory_is_an_error_and_training_resumes_with_smaller_pieces(tmp_path):
    run = tiny.settings(max_updates=10, checkpoint_every=2)
    model, calls = tiny.model_of(run), []

    def full():
        calls.append(1)
        if len(calls) == 8:
            tiny.run_out_of_memory()

    tiny.around_loss(model, before=full)
    with pytest.raises(UserError) as caught:
        train_tiny(tmp_path, run, model=model)
    assert str(caught.value) == (
        "The GPU's memory is full (CUDA out of memory. Tried to allocate 2.00 GiB). Lower machine.device_size in "
        "config.yaml (now the whole batch, 160 tokens): batches stay the same, but are cut into smaller pieces. Then "
        "start again; training resumes from its last checkpoint."
    )
    smaller = tiny.settings(max_updates=10, checkpoint_every=2, batch={"device_size": 40})
    messages = []
    assert train_tiny(tmp_path, smaller, log=messages.append)[0].update == 10
    assert any(line.startswith("Resuming from the checkpoint of update ") for line in messages)


def train_both(folder, backend, monkeypatch, **settings):
    """Train in fp64 without dropout, plainly and compiled; return both models, their losses, and the last messages."""
    messages, compile_ = [], torch.compile
    monkeypatch.setattr(torch, "compile", lambda function, **options: compile_(function, backend=backend, **options))
    torch._dynamo.reset()
    models, losses = [], []
    for name in ("plain", "compiled"):
        values = {"max_updates": 4, "log_every": 1, "compile": name == "compiled", "dropout": 0.0}
        run = tiny.settings(**values, **settings)
        model = tiny.model_of(run).double()
        lines = train_tiny(folder / name, run, model=model, log=messages.append)[2]
        models.append(model)
        losses.append([line["loss"] for line in lines if "loss" in line])
    return models, losses, messages


@pytest.mark.parametrize("base", ["parses", "recurrent"])
def test_compiled_parts_train_the_same_model(tmp_path, monkeypatch, base):
    compiled = []
    backend = lambda graph, _: compiled.append(graph) or graph
    (expected, model), (losses, other), messages = train_both(tmp_path, backend, monkeypatch, **{base: True})
    assert "Compiling parts of the model with the first batches, which takes up to a few minutes." in messages
    called = {node.target for graph in compiled for node in graph.graph.nodes}
    assert {"log_softmax", "tanh" if base == "recurrent" else torch.nn.functional.layer_norm} <= called
    assert other == pytest.approx(losses, rel=1e-12)
    for (name, weight), (_, own) in zip(named_weights(expected), named_weights(model), strict=True):
        torch.testing.assert_close(own, weight, rtol=1e-8, atol=1e-9, msg=name)


def test_an_error_of_the_compiler_is_explained(tmp_path, monkeypatch):
    def lack_compiler(*_):
        raise OSError("no compiler")

    with pytest.raises(UserError, match=r"^torch\.compile failed \(.*no compiler.*\): set machine\.compile to false"):
        train_both(tmp_path, lack_compiler, monkeypatch)
