"""Compiled layers compute the same gradients, and training goes on without them where they cannot be compiled."""

import contextlib
from dataclasses import replace

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
from nmtcore.training import compiled_layers, loop, update
from nmtcore.training.compiled_layers import CompiledLayers
from nmtcore.training.update import accumulate_gradients, count_terms, seed_update, term_names
from nmtcore.training.weight_copies import WeightCopies

FP32 = TrainingSettings(max_updates=1)


def gradients(
    model: TranslationModel,
    compiled: CompiledLayers | None,
    settings: TrainingSettings = FP32,
    copies: WeightCopies | None = None,
) -> list[torch.Tensor | None]:
    """Return the sums and gradients of an update of two batches, with dropout."""
    examples = random_examples(6, seed=3)
    batches = [make_batch(examples, rows, model.components) for rows in ([0, 1, 2], [3, 4, 5])]
    seed_update(1, 1, 0)
    with contextlib.nullcontext() if compiled is None else compiled.in_use():
        counts = count_terms(batches, term_names(model.components))
        sums = accumulate_gradients(model, batches, counts, settings, torch.device("cpu"), copies)
    results = [sums, *(parameter.grad for parameter in model.parameters())]
    model.zero_grad()
    return results


def assert_gradients_close(results, expected, **tolerance):
    for result, own in zip(results, expected, strict=True):
        assert (result is None) == (own is None)
        if own is not None:
            torch.testing.assert_close(result, own, **tolerance)


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "names"), [("inductor", []), ("eager", ["depparse", "pascal"])])
def test_gradients_equal_those_of_the_layers_themselves(backend, names, example, monkeypatch):
    monkeypatch.setattr(compiled_layers, "BACKEND", backend)
    model = small_model(*map(example, names), dropout=0.1).double().train()
    expected = gradients(model, None)
    # Compiling takes long: the encoder will do.
    assert_gradients_close(gradients(model, CompiledLayers(model.encoder)), expected)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_layers_compute_in_bf16_with_copies_of_weights(backend, monkeypatch):
    monkeypatch.setattr(compiled_layers, "BACKEND", backend)
    monkeypatch.setattr(update, "used_precision", lambda settings, device: settings.precision)
    settings = TrainingSettings(max_updates=1, precision="bf16")
    model = small_model(encoder_layers=1, decoder_layers=1, dropout=0.1).float().train()
    copies = WeightCopies(model)
    expected = gradients(model, None, settings, copies)
    results = gradients(model, CompiledLayers(model.compilable_layers()), settings, copies)
    # AOTAutograd rounds sums of gradients in another order.
    assert_gradients_close(results, expected, **({} if backend == "eager" else {"rtol": 0.05, "atol": 0.005}))
    assert {result.dtype for result in results[1:]} == {torch.float32}


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


def test_training_goes_on_where_compiling_the_backward_pass_fails(tmp_path, monkeypatch):
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd
    from torch._inductor.exc import InductorError

    def fail(graph, inputs):
        raise InductorError(OSError("no compiler"), None)

    backend = aot_autograd(fw_compiler=lambda graph, inputs: make_boxed_func(graph.forward), bw_compiler=fail)
    monkeypatch.setattr(compiled_layers, "BACKEND", backend)
    plain, messages = train_tiny(tmp_path / "plain", tiny.settings(max_updates=2))[1], []
    model = train_tiny(tmp_path / "compiled", tiny.settings(max_updates=2, compile=True), log=messages.append)[1]
    assert same_weights(plain, model)
    assert [m for m in messages if m.startswith("Training goes on without compiled layers") and "no compiler" in m]


def test_trees_that_diverge_while_layers_are_compiled_end_training_with_the_update(tmp_path, monkeypatch):
    def diverge(*_):
        raise DivergedTrees("sentence 3")

    monkeypatch.setattr(loop, "accumulate_gradients", diverge)
    with pytest.raises(UserError, match=r"Training diverged: the scores of the trees of .* at update 1 \(learning"):
        train_tiny(tmp_path, tiny.settings(max_updates=2, compile=True))


@pytest.mark.parametrize("name", ["pascal", "tree_distance", "relative_positions"])
def test_lengths_and_layers_do_not_need_compilations_of_their_own(name, example, monkeypatch):
    """Torch compiles the same code at most eight times; then it runs as it is."""
    compiled = []

    def record(graph, inputs):
        compiled.append(graph)
        return graph

    monkeypatch.setattr(compiled_layers, "BACKEND", record)
    settings = replace(example(name), layers=(0, 1, 2, 3)) if name == "pascal" else example(name)
    model = small_model(settings, encoder_layers=4, decoder_layers=1, dropout=0.1).train()
    layers, counts = CompiledLayers(model.encoder), []
    for seed in range(6):
        batch = make_batch(
            random_examples(3 + seed, seed=seed, longest=4 + 3 * seed), range(3 + seed), model.components
        )
        with layers.in_use():
            model.encode(batch)
        counts.append(len(compiled))
    # The first lengths may happen to equal other sizes.
    assert counts[-1] == counts[-3]


def test_a_recurrent_model_trains_without(tmp_path):
    messages = []
    train_tiny(tmp_path, tiny.settings(max_updates=2, compile=True, recurrent=True), log=messages.append)
    assert "training.compile: only layers of transformers are compiled, and this model is recurrent." in messages
