"""Compiled layers compute the same gradients, and training goes on without them where they cannot be compiled."""

import contextlib

import pytest
import torch
from training import tiny
from training.test_train import same_weights, train_tiny

from nmtcore.config.training import TrainingSettings
from nmtcore.errors import UserError
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import make_batch
from nmtcore.model.proofs import random_examples, small_model
from nmtcore.model.tree_errors import DivergedTrees
from nmtcore.training import compiled_layers, loop
from nmtcore.training.compiled_layers import CompiledLayers
from nmtcore.training.update import accumulate_gradients, count_terms, seed_update, term_names


def gradients(model: TranslationModel, compiled: CompiledLayers | None) -> list[torch.Tensor | None]:
    """Return the sums and gradients of an update of two batches, with dropout."""
    examples = random_examples(6, seed=3)
    batches = [make_batch(examples, rows, model.components) for rows in ([0, 1, 2], [3, 4, 5])]
    seed_update(1, 1, 0)
    with contextlib.nullcontext() if compiled is None else compiled.in_use():
        counts = count_terms(batches, term_names(model.components))
        sums = accumulate_gradients(model, batches, counts, TrainingSettings(max_updates=1), torch.device("cpu"))
    results = [sums, *(parameter.grad for parameter in model.parameters())]
    model.zero_grad()
    return results


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "names"), [("inductor", []), ("eager", ["depparse", "pascal"])])
def test_gradients_equal_those_of_the_layers_themselves(backend, names, example, monkeypatch):
    monkeypatch.setattr(compiled_layers, "BACKEND", backend)
    model = small_model(*map(example, names), dropout=0.1).double().train()
    expected = gradients(model, None)
    # Compiling takes long: the encoder will do.
    for result, own in zip(gradients(model, CompiledLayers(model.encoder)), expected, strict=True):
        assert (result is None) == (own is None)
        if own is not None:
            torch.testing.assert_close(result, own)


@pytest.fixture
def calls(monkeypatch):
    """The shapes with which compiled layers are called; compiling ends with what Dynamo alone records."""
    shapes = []

    def record(graph, inputs):
        def call(*arguments):
            shapes.append([argument.shape for argument in arguments if isinstance(argument, torch.Tensor)])
            return graph(*arguments)

        return call

    monkeypatch.setattr(compiled_layers, "BACKEND", record)
    return shapes


def test_training_computes_all_updates_with_compiled_layers_and_validates_without(tmp_path, calls):
    values, messages = {"max_updates": 6, "validation": {"every": 3}, "batch": {"device_size": 80}}, []
    plain = train_tiny(tmp_path / "plain", tiny.settings(**values))[1]
    assert not calls
    run = tiny.settings(compile=True, **values)
    model = train_tiny(tmp_path / "compiled", run, log=messages.append)[1]
    assert same_weights(plain, model)
    assert any(message.startswith("Compiled 2 layers in") for message in messages)
    updates = calls.copy()
    with torch.no_grad():
        model(make_batch(tiny.examples(4), range(4), model.components))
    assert calls == updates
    assert not any("forward" in vars(layer) for layer in model.compilable_layers())


def test_training_goes_on_where_the_compiler_fails(tmp_path, monkeypatch):
    def fail(graph, inputs):
        raise OSError("no compiler\nfound")

    monkeypatch.setattr(compiled_layers, "BACKEND", fail)
    plain, messages = train_tiny(tmp_path / "plain", tiny.settings(max_updates=4))[1], []
    model = train_tiny(tmp_path / "compiled", tiny.settings(max_updates=4, compile=True), log=messages.append)[1]
    assert same_weights(plain, model)
    (message,) = [line for line in messages if "compile" in line.lower()]
    assert message.startswith("Training goes on without compiled layers, with the same results; torch.compile failed:")
    assert "no compiler" in message
    assert "\n" not in message


def test_trees_that_diverge_while_layers_are_compiled_end_training_with_the_update(tmp_path, monkeypatch):
    def diverge(*_):
        raise DivergedTrees("sentence 3")

    monkeypatch.setattr(loop, "accumulate_gradients", diverge)
    with pytest.raises(UserError, match=r"Training diverged: the scores of the trees of .* at update 1 \(learning"):
        train_tiny(tmp_path, tiny.settings(max_updates=2, compile=True))


def test_a_recurrent_model_trains_without(tmp_path):
    messages = []
    train_tiny(tmp_path, tiny.settings(max_updates=2, compile=True, recurrent=True), log=messages.append)
    assert "training.compile: only layers of transformers are compiled, and this model is recurrent." in messages
