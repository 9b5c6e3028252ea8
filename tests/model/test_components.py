"""Tests that hold for every registered component, and tests of every hook."""

import dataclasses

import numpy as np
import pytest
import torch
from factories import forced_logits
from model.comparing import check_baseline, check_batching, check_steps

from nmtcore.config.components import COMPONENTS
from nmtcore.model.batch import make_batch
from nmtcore.model.build import initialise_model
from nmtcore.model.components.base import AttentionHooks, Build, Component


class Everything(Component):
    """A test component that uses every hook; with `strength` 0 it changes nothing."""

    def __init__(self, strength):
        super().__init__(None, Build(name="everything"))
        self.strength = strength
        self.queries = torch.nn.Linear(16, 4)
        self.bias = torch.nn.Parameter(torch.randn(64))
        self.change = torch.nn.Linear(16, 16)

    def attention_hooks(self, stack, layer):
        if layer != 1:
            return None
        if stack == "cross":
            return AttentionHooks(queries_keys=self.change_queries)
        return AttentionHooks(scores=self.add, observe=self.see)

    def change_queries(self, inputs):
        changed = inputs.queries_BHQE.clone()
        changed[:, 0] += self.strength * self.queries(inputs.states_BQD)
        return changed, inputs.keys_BHKE

    def add(self, scores, inputs):
        queries, keys = scores.shape[-2:]
        positions = torch.arange(keys - queries, keys)
        distances = (positions.unsqueeze(1) - torch.arange(keys)).abs()
        return scores * (1 + self.strength * self.bias[distances]) + self.strength * self.bias[distances + 1]

    def see(self, inputs, scores):
        assert scores is not None

    def add_to_batch(self, arrays):
        arrays.counts[self.name] = len(arrays.tokens_BS)

    def embed_source(self, embedded, context):
        context.notes[self.name] = embedded[context.mask_BS]
        return embedded + self.strength * self.change(embedded).tanh()

    def loss(self, context):
        return self.strength * context.notes[self.name].square().sum()


SYSTEMS = [*sorted(COMPONENTS), "everything", None]


@pytest.fixture(params=SYSTEMS, ids=str)
def system(request, make, example):
    """A function that makes a model with one component or none."""

    def build(**settings):
        if request.param is None:
            return make(**settings)
        if request.param == "everything":
            return make(extra_components=(Everything(1.0),), **settings)
        return make(example(request.param), **settings)

    return build


@pytest.mark.parametrize("name", sorted(COMPONENTS))
def test_settings_and_component_agree_on_whether_it_parses_and_has_a_loss(name, make, example):
    settings = example(name)
    model = make(settings)
    assert (model.parser is not None) == bool(settings.trees)
    assert settings.has_second_loss == model.components[0].has_loss
    if settings.has_second_loss:
        without = dataclasses.replace(settings, weight=0.0)
        assert not without.has_second_loss
        assert make(without).components[0].loss_weight == 0


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_reordered_beams_and_kept_sentences_continue_their_histories(system, draw, norm):
    check_steps(system(norm=norm), draw(3, seed=6))


def test_outputs_losses_and_counts_of_a_sentence_do_not_depend_on_its_batch(system, draw):
    check_batching(system(), draw(6, seed=7))


@pytest.mark.parametrize("name", sorted(COMPONENTS))
def test_the_syntax_of_a_sentence_affects_only_its_own_outputs_and_losses(name, make, example, draw, redraw):
    settings = example(name)
    model, examples = make(settings), draw(4, seed=9)
    both = (examples, redraw(examples, seed=1))

    def outputs(rows):
        batches = [make_batch(annotated, rows, model.components) for annotated in both]
        return [forced_logits(model, b) for b in batches], [model.loss(b, label_smoothing=0.1).parts for b in batches]

    reads = bool(settings.needs.get("source")) and settings.needs_at_inference
    learns = bool(settings.needs.get("source")) and not settings.needs_at_inference
    with torch.no_grad():
        (before, after), of_all = outputs(np.arange(4))
        _, of_first = outputs(np.arange(1))
    assert torch.equal(before[1:], after[1:])
    assert torch.equal(before[0], after[0]) != reads
    for (old, new), (old_first, new_first) in zip(zip(*of_all, strict=True), zip(*of_first, strict=True), strict=True):
        moved = new_first.sum - old_first.sum
        torch.testing.assert_close(new.sum - old.sum, moved)
        assert (moved != 0) == (reads if old.name == "translation" else learns), old.name


def test_gradients_reach_all_parameters(system, draw):
    model = system().train()
    model.loss(make_batch(draw(6, seed=7), np.arange(6), model.components)).objective().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        # The bias of keys adds a constant to the scores of a query, so its gradient is zero except for rounding.
        assert parameter.grad.abs().max() > 1e-12 or name.endswith(".keys.bias"), name


def test_a_source_without_target_can_be_encoded(system, draw):
    model, examples = system(), draw(3, seed=4)
    batch = make_batch(examples, np.arange(3), model.components)
    bare = make_batch(dataclasses.replace(examples, target=None), np.arange(3), model.components)
    assert bare.target_input_BT is None
    assert bare.tokens == 0
    torch.testing.assert_close(model.encode(bare).memory_BSD, model.encode(batch).memory_BSD)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_component_of_strength_zero_equals_the_baseline(make, draw, norm):
    """The explicit form of attention equals the fused kernel: outputs and gradients."""
    model = make(extra_components=(Everything(0.0),), norm=norm)
    check_baseline(model, make(norm=norm), make_batch(draw(5, seed=3), np.arange(5), model.components))


def test_losses_are_in_single_precision_if_the_model_runs_in_half_precision(system, draw):
    model = system().float()
    batch = make_batch(draw(4, seed=3), np.arange(4), model.components)
    exact = model.loss(batch, label_smoothing=0.1).objective()
    with torch.autocast("cpu", torch.bfloat16):
        losses = model.loss(batch, label_smoothing=0.1)
        state = model.start(model.encode(batch))
        first = model.step(batch.target_input_BT[:, 0], state)
        assert torch.isfinite(model.step(batch.target_input_BT[:, 1], state)).all()
    assert {part.sum.dtype for part in losses.parts} == {torch.float32}
    torch.testing.assert_close(losses.objective(), exact, rtol=0.1, atol=0.1)
    torch.testing.assert_close(first.float(), forced_logits(model, batch)[:, 0], rtol=0.1, atol=0.2)
    losses.objective().backward()


def test_components_initialise_their_parameters_after_the_model(make):
    class Zeroed(Component):
        def __init__(self):
            super().__init__(None, Build(name="zeroed"))
            self.table = torch.nn.Embedding(3, 4)

        def initialise(self, initialisation):
            torch.nn.init.zeros_(self.table.weight)

    model = make(extra_components=(Zeroed(),))
    initialise_model(model, "uniform", 0.5)
    assert not model.components[0].table.weight.any()
