"""Compiled layers compute the same gradients, and training goes on without them where they cannot be compiled."""

import contextlib
from collections.abc import Sequence

import pytest
import torch
from training import tiny
from training.test_train import same_weights, train_tiny

from nmtcore.config.components import COMPONENTS, check_composition
from nmtcore.config.components.base import ComponentSettings
from nmtcore.config.training import TrainingSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.errors import UserError
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch, make_batch
from nmtcore.model.build import implementation
from nmtcore.model.components.base import Component
from nmtcore.model.testing import random_examples, small_model
from nmtcore.model.tree_errors import DivergedTrees
from nmtcore.training import compiled_layers, loop, update
from nmtcore.training.compiled_layers import CompiledLayers
from nmtcore.training.update import accumulate_gradients, count_terms, seed_update, term_names
from nmtcore.training.weight_copies import WeightCopies

FP32 = TrainingSettings(max_updates=1)
SIZES = {"dropout": 0.1, "encoder_layers": 2, "decoder_layers": 1}
MOST_GRAPHS = 6
"""Graphs of a model with these sizes: two for each layer, since a pass without a mask or with equal lengths may differ
from the others."""
MOST_GRAPHS_IN_PIECES = {"tree_head": 24}
"""Graphs of models with a component that branches on values: torch compiles what is between the branches."""


@pytest.fixture(autouse=True)
def counters():
    """Forget what other tests compiled: the same code is compiled at most eight times, and then runs as it is.

    Returns torch's counters of what it compiles.
    """
    from torch._dynamo.utils import counters  # here, since it takes seconds in each of pytest's workers

    torch._dynamo.reset()
    counters.clear()
    with torch._dynamo.config.patch(fail_on_recompile_limit_hit=True):
        yield counters
    torch._dynamo.reset()


def some_batches(model: TranslationModel, *, seed: int = 3, sentences: int = 6, longest: int = 7) -> list[Batch]:
    """Make two batches for an update, with random sentences."""
    examples = random_examples(sentences, seed=seed, longest=longest)
    half = sentences // 2
    return [make_batch(examples, rows, model.components) for rows in (range(half), range(half, sentences))]


def gradients(
    model: TranslationModel,
    compiled: CompiledLayers | None,
    batches: Sequence[Batch],
    settings: TrainingSettings = FP32,
    copies: WeightCopies | None = None,
) -> list[torch.Tensor | None]:
    """Return the sums and gradients of an update, with dropout."""
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


@pytest.mark.needs("training")
def test_gradients_of_compiled_kernels_equal_those_of_the_layers_themselves(example):
    """Both stacks, with a component that observes scores and one that adds to them."""
    names = ["diagonalparse", "relative_positions"]
    model = small_model(*map(example, names), **SIZES).train()
    batches = some_batches(model)
    expected = gradients(model, None, batches)
    assert_gradients_close(gradients(model, CompiledLayers(model.compilable_layers()), batches), expected)


@pytest.mark.parametrize("backend", ["eager", pytest.param("aot_eager", marks=pytest.mark.needs("training"))])
def test_compiled_layers_compute_in_bf16_with_copies_of_weights(backend, monkeypatch):
    monkeypatch.setattr(compiled_layers, "BACKEND", backend)
    monkeypatch.setattr(update, "used_precision", lambda settings, device: settings.precision)
    settings = TrainingSettings(max_updates=1, precision="bf16")
    model = small_model(encoder_layers=1, decoder_layers=1, dropout=0.1).float().train()
    copies = WeightCopies(model)
    batches = some_batches(model)
    expected = gradients(model, None, batches, settings, copies)
    results = gradients(model, CompiledLayers(model.compilable_layers()), batches, settings, copies)
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
        model.loss(make_batch(tiny.examples(4), range(4), model.components))
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


@pytest.mark.needs("training")
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


def component_groups(example) -> list[dict[str, ComponentSettings]]:
    """Divide all components that are called within layers into few groups that a model can have together."""
    groups: list[dict[str, ComponentSettings]] = []
    for name, settings in COMPONENTS.items():
        hooks = implementation(COMPONENTS, name).attention_hooks
        if "transformer" not in settings.bases or hooks is Component.attention_hooks:
            continue
        for group in groups:
            together = {**group, name: example(name)}
            with contextlib.suppress(UserError):
                check_composition(together, "transformer", TransformerSettings(heads=4, **SIZES), where="test")
                if not MOST_GRAPHS_IN_PIECES.keys() & together.keys():
                    group.update(together)
                    break
        else:
            groups.append({name: example(name)})
    return groups


@pytest.mark.needs("training")
def test_layers_with_any_component_are_compiled_once_for_all_lengths(example, monkeypatch, counters):
    """In batches of growing lengths and sizes, each with the gradients of the layers themselves."""
    called = []

    def record(graph, inputs):
        def call(*arguments):
            called.append(graph)
            return graph(*arguments)

        return call

    monkeypatch.setattr(compiled_layers, "BACKEND", record)
    for group in component_groups(example):
        torch._dynamo.reset()
        counters.clear()
        model = small_model(*group.values(), **SIZES).train()
        layers, graphs = CompiledLayers(model.compilable_layers()), []
        for i in range(5):
            batches = some_batches(model, seed=i, sentences=6 + 2 * i, longest=4 + 3 * i)
            called.clear()
            results = gradients(model, layers, batches)
            assert len(called) >= len(batches) * len(model.compilable_layers()), f"{list(group)}: a layer ran as it is"
            assert_gradients_close(results, gradients(model, None, batches))
            graphs.append(counters["stats"]["unique_graphs"])
        in_pieces = MOST_GRAPHS_IN_PIECES.keys() & group.keys()
        most = max((MOST_GRAPHS_IN_PIECES[name] for name in in_pieces), default=MOST_GRAPHS)
        assert graphs[1:] == graphs[1:2] * 4, f"{list(group)}: graphs were added, {graphs}"
        assert 0 < graphs[-1] <= most, f"{list(group)}: {graphs[-1]} graphs"
        assert bool(counters["graph_break"]) == bool(in_pieces), f"{list(group)}: {list(counters['graph_break'])}"


@pytest.mark.needs("training")
def test_deeper_models_need_no_more_compilations(example, monkeypatch, counters):
    """Not even if each layer has parameters of a component. The second layer shows torch what differs."""
    monkeypatch.setattr(compiled_layers, "BACKEND", "eager")
    counts = []
    for depth in (2, 4):
        torch._dynamo.reset()
        counters.clear()
        sizes = {**SIZES, "encoder_layers": depth, "decoder_layers": depth}
        model = small_model(example("relative_positions"), **sizes).train()
        gradients(model, CompiledLayers(model.compilable_layers()), some_batches(model))
        counts.append(counters["stats"]["unique_graphs"])
    assert counts[0] == counts[1] > 0


def test_a_recurrent_model_trains_without(tmp_path):
    messages = []
    train_tiny(tmp_path, tiny.settings(max_updates=2, compile=True, recurrent=True), log=messages.append)
    assert "training.compile: only layers of transformers are compiled, and this model is recurrent." in messages
