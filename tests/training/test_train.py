"""Training from the first update to the final weights: results, logs, messages and errors."""

import json
import math
import os
import re
import signal
from dataclasses import replace

import numpy as np
import pytest
import torch
from training import tiny

from nmtcore.errors import UserError
from nmtcore.features.ragged import Ragged
from nmtcore.model import linear
from nmtcore.model.batch import make_batch
from nmtcore.training.checkpoints import Checkpoints, named_weights
from nmtcore.training.data import prepare_training_data
from nmtcore.training.trainer import train
from nmtcore.training.update import perplexity
from nmtcore.training.world import Interrupted


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


def test_every_update_is_in_the_log_once(tmp_path):
    state, _, lines = train_tiny(tmp_path, tiny.settings())
    training = [line for line in lines if "validation" not in line]
    assert sum(line["updates"] for line in training) == state.update == 24
    assert [line["update"] for line in training] == [3, 6, 8, 9, 12, 15, 16, 18, 21, 24]
    assert [line["update"] for line in lines if "validation" in line] == [8, 16, 24]
    for line in training:
        assert line["perplexity"] == pytest.approx(perplexity(line["nll"]))
        assert line["tokens"] > 0
        assert math.isfinite(line["gradient"])


def test_accumulation_changes_nothing(tmp_path):
    # Some sentences have no tree, so the parser's loss must be divided by the count of the whole batch.
    models, logged = [], []
    for device_size in (None, 40, 1):
        run = tiny.settings(parses=True, dropout=0.0, max_updates=5, batch={"device_size": device_size})
        model = tiny.model_of(run).double()
        _, model, lines = train_tiny(tmp_path / str(device_size), run, model=model)
        models.append(model)
        logged.append([lines[0][key] for key in ("loss", "nll", "tokens", "gradient")])
    assert all(logged[0] == pytest.approx(other) for other in logged[1:])
    for other in models[1:]:
        for (name, a), (_, b) in zip(named_weights(models[0]), named_weights(other), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-8, atol=1e-9, msg=name)


@pytest.mark.parametrize("gold_trees", [None, tiny.treebank(unparsed=0.2)], ids=["pairs", "treebank"])
def test_one_update_is_adam_on_the_mean_of_every_term(tmp_path, gold_trees):
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


def test_training_without_any_tree_has_a_parsing_loss_of_zero(tmp_path):
    data = tiny.examples(120, unparsed=1.0), tiny.examples(20, seed=1, unparsed=1.0)
    state, model, lines = train_tiny(tmp_path, tiny.settings(parses=True, max_updates=6), data=data)
    assert all(bool(tensor.isfinite().all()) for _, tensor in named_weights(model))
    assert all(line["loss/depparse"] == 0 for line in lines if "validation" not in line)
    assert math.isfinite(state.scores["perplexity"])


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
    validate, weights = bleu_scores(1.0, 5.0, 3.0, 4.0, 5.0)
    run = tiny.settings(max_updates=10, keep="best", validation=BLEU, checkpoint_every=3)
    state, model, _ = train_tiny(tmp_path, run, validate=validate)
    assert (state.best_update, state.best_score, state.scores["bleu"]) == (4, 5.0, 5.0)
    assert all(torch.equal(tensor, weights[1][name]) for name, tensor in named_weights(model))


def test_the_last_checkpoints_are_averaged(tmp_path):
    validate, weights = bleu_scores(*range(5))
    run = tiny.settings(max_updates=10, keep="average", average=3, validation=BLEU, checkpoint_every=2)
    _, model, _ = train_tiny(tmp_path, run, validate=validate)
    for name, tensor in named_weights(model):
        mean = sum(s[name].double() for s in weights[2:]) / 3
        torch.testing.assert_close(tensor, mean.float(), rtol=1e-5, atol=1e-6)


def test_training_ends_after_the_last_epoch(tmp_path):
    run = tiny.settings(max_epochs=2, max_updates=None)
    state, _, lines = train_tiny(tmp_path, run)
    model = tiny.model_of(run)
    data = prepare_training_data(run, model, tiny.examples(120, unparsed=0.3), tiny.examples(20, seed=1), print)
    assert state.update == len(data.main.plan(0)) + len(data.main.plan(1))
    assert state.epoch == 2
    # The validation after the last update is of the second epoch, too.
    assert [(line["update"], line["epoch"]) for line in lines[-2:]] == [(state.update, 2)] * 2
    assert "validation" in lines[-1]
    # Two epochs have every target token twice.
    pairs = data.main.examples
    tokens = int(pairs.target.ids.lengths.sum()) + len(pairs)
    assert sum(line.get("tokens", 0) for line in lines) == 2 * tokens


def messages_of(run, train, dev, **options):
    """Prepare data for training; return what is logged about them."""
    messages = []
    prepare_training_data(run, tiny.model_of(run), train, dev, messages.append, **options)
    return messages


def test_long_pairs_are_left_out_and_counted():
    train, dev = tiny.examples(120), tiny.examples(20, seed=1)
    over = (train.source.ids.lengths > 6).sum()
    assert over > 0
    message = f"{over} of 120 training pairs have more than 6 subwords: left out."
    assert messages_of(tiny.settings(batch={"max_length": 6}), train, dev) == [message]
    assert messages_of(tiny.settings(batch={"max_length": None}), tiny.examples(60, longest=300), dev) == []


def test_very_long_dev_pairs_are_named_and_left_out_of_the_losses(monkeypatch):
    """Ids of dev are those of its lines, from 0; those of rows that a transform adds are negative."""
    for module in ("features.sources", "training.data"):
        monkeypatch.setattr(f"nmtcore.{module}.MAX_SUBWORDS", 7)
    run, train, dev = tiny.settings(), tiny.examples(20), tiny.examples(20, seed=1)
    dev = replace(dev, id=np.where(np.arange(20) % 2, dev.id, -1 - dev.id))
    short = np.flatnonzero(dev.source.ids.lengths <= 7)
    lines = [row + 1 for row in range(20) if row not in short]
    assert 0 < len(lines) <= 5
    messages = []
    data = prepare_training_data(run, tiny.model_of(run), train, dev, messages.append)
    assert messages == [
        f"{len(lines)} of 20 dev examples have more than 7 subwords on a side: left out of the losses of validations "
        f"(dev, line {', '.join(map(str, lines))})."
    ]
    assert data.dev.id.tolist() == dev.id[short].tolist()
    assert sorted(np.concatenate(data.dev_batches).tolist()) == list(range(len(short)))
    assert messages_of(run, train, data.dev) == []
    long = dev.take(np.setdiff1d(np.arange(20), short))
    with pytest.raises(UserError, match=r"have more than 7 subwords on a side: there is nothing to validate on"):
        messages_of(run, train, long)


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


def test_sentences_without_a_feature_are_counted():
    """Only sentences that are trained on count; a sentence lacks a feature if no word has a value in its columns."""
    train, dev = tiny.examples(120, unparsed=0.3), tiny.examples(20, seed=1)
    run = tiny.settings(parses=True, batch={"max_length": 6})
    source = train.source
    used = np.flatnonzero(source.ids.lengths <= 6)
    tags = {
        name: Ragged.from_lengths(np.full_like(source.ids.values, 2), source.ids.lengths) for name in ("upos", "xpos")
    }
    source.features.update(tags)
    tags["xpos"].values[:] = 0
    for row in used[:2]:
        tags["upos"][row][:] = 0
    tags["xpos"][used[1]][-1] = 3
    null = sum(source.features["governor"][row][0] == -2 for row in used)
    assert 0 < null < len(used) < 120
    both = replace(run, features={"source": {"trees": "some", "pos_tags": "other"}})
    line = "training sentences have no {} on the source side: they are trained on as plain text."
    counted = [f"{n} of {len(used)} {line.format(k)}" for n, k in [(null, "trees"), (1, "pos_tags")]]
    assert messages_of(both, train, dev)[1:] == counted
    assert len(messages_of(run, train, dev)) == 1


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


def test_a_finished_run_is_not_trained_again(tmp_path):
    run = tiny.settings(max_updates=9, keep="average", average=2, checkpoint_every=4)
    first, model, lines = train_tiny(tmp_path, run)
    fresh = tiny.model_of(run)
    tiny.around_loss(fresh, before=lambda: pytest.fail("trained again"))
    second, repeated, repeated_lines = train_tiny(tmp_path, run, model=fresh)
    assert same_weights(model, repeated)
    assert first == second
    assert lines == repeated_lines


def test_a_validation_interrupted_by_a_signal_is_repeated_after_resuming(tmp_path):
    run = tiny.settings(max_updates=6, validation=BLEU, keep="best")
    whole = train_tiny(tmp_path / "whole", run, validate=bleu_scores(1.0, 3.0, 2.0)[0])[1]

    def slow(model):
        os.kill(os.getpid(), signal.SIGUSR1)
        pytest.fail("the signal did not interrupt the validation")

    with pytest.raises(Interrupted, match="stopped by SIGUSR1 after update 2"):
        train_tiny(tmp_path / "cut", run, validate=slow)
    state, model, lines = train_tiny(tmp_path / "cut", run, validate=bleu_scores(1.0, 3.0, 2.0)[0])
    assert same_weights(model, whole)
    assert state.best_update == 4
    assert [line["update"] for line in lines if "validation" in line] == [2, 4, 6]
    assert signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL


@pytest.mark.parametrize(("size", "current"), [(None, "the whole batch, 160 tokens"), (80, "80 tokens")])
def test_a_full_memory_is_an_error_and_training_resumes_with_smaller_pieces(tmp_path, size, current):
    run = tiny.settings(max_updates=10, checkpoint_every=2, batch={"device_size": size})
    model, calls = tiny.model_of(run), []

    def full():
        calls.append(1)
        if len(calls) == 8:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    tiny.around_loss(model, before=full)
    with pytest.raises(UserError) as caught:
        train_tiny(tmp_path, run, model=model)
    assert str(caught.value) == (
        "The GPU's memory is full (CUDA out of memory. Tried to allocate 2.00 GiB). Lower machine.device_size in "
        f"config.yaml (now {current}): batches stay the same, but are cut into smaller pieces. Then start again; "
        "training resumes from its last checkpoint."
    )
    smaller = tiny.settings(max_updates=10, checkpoint_every=2, batch={"device_size": 40})
    messages = []
    assert train_tiny(tmp_path, smaller, log=messages.append)[0].update == 10
    assert any(line.startswith("Resuming from the checkpoint of update ") for line in messages)


def test_a_run_that_goes_on_on_another_processor_says_so(tmp_path, amd_processor, monkeypatch):
    for name in ("LEAST_ROWS", "LEAST_SIZE_IN_TRAINING"):
        monkeypatch.setattr(linear, name, 1)
    messages = []
    for updates, cpuinfo in ((8, "vendor_id : GenuineIntel"), (16, "vendor_id : AuthenticAMD"), (24, None)):
        amd_processor(**{"cpuinfo": cpuinfo} if cpuinfo else {})
        messages.append([])
        state, *_ = train_tiny(tmp_path, tiny.settings(max_updates=updates), log=messages[-1].append)
    changed = "Until then, linear layers were computed by PyTorch: the weights will differ from those of a training "
    assert [sum(line.startswith(changed) for line in own) for own in messages] == [0, 1, 0]
    ways = [own[0] for own in messages]
    assert ways == [f"Linear layers are computed by {way}." for way in ("PyTorch", "oneDNN", "oneDNN")]
    assert state.linear_layers == "oneDNN"


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


def lack_compiler(*_):
    """Fail as a backend of torch.compile does on a machine without a compiler."""
    raise OSError("no compiler")


def test_an_error_of_the_compiler_is_explained(tmp_path, monkeypatch):
    with pytest.raises(UserError, match=r"^torch\.compile failed \(.*no compiler.*\): set machine\.compile to false"):
        train_both(tmp_path, lack_compiler, monkeypatch)
