"""Tests that hold for every registered component, and tests of every hook."""

import dataclasses

import numpy as np
import pytest
import torch
from factories import forced_logits
from model.comparing import check_baseline, check_batching, check_steps

from nmtcore.config.components import COMPONENTS
from nmtcore.model.batch import make_batch
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


AT_FIRST = {
    "depparse": {"root": "itself"},
    "factors": {"combine": "add"},
    "head_selection": {"annotations": "one_set"},
    "tag_attention": {"choice": "gumbel"},
    "tree_distance": {"replaces_positions": False},
    "tree_traversal": {"replaces_positions": False},
}
"""Settings that decide whether a component is neutral at first, or how."""


@pytest.mark.parametrize(("name", "values"), [*((name, {}) for name in sorted(COMPONENTS)), *AT_FIRST.items()], ids=str)
def test_settings_say_whether_a_component_can_begin_without_changing_translations(name, values, make, example, draw):
    """And then the first update changes it or, if it has no parameters, changes the model otherwise than without it."""
    settings = dataclasses.replace(example(name), **values)
    for base in settings.bases:
        model, plain = make(settings, base=base), make(base=base)
        plain.load_state_dict({k: w for k, w in model.state_dict().items() if not k.startswith("components.")})
        if settings.neutral_at_first:
            model.components[0].make_neutral()
        batches = [make_batch(draw(5, seed=3), np.arange(5), each.components) for each in (model, plain)]
        logits = [forced_logits(each, batch) for each, batch in zip((model, plain), batches, strict=True)]
        assert torch.allclose(*logits, rtol=0, atol=1e-9) == settings.neutral_at_first
        for each, batch in zip((model, plain), batches, strict=True):
            each.loss(batch).objective().backward()
        new = [parameter.grad for parameter in model.components.parameters()]
        of_base = dict(model.named_parameters())
        moved = (not torch.allclose(of_base[name].grad, weight.grad) for name, weight in plain.named_parameters())
        assert any(gradient is not None and gradient.any() for gradient in new) if new else any(moved)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_hooks_work_in_any_batch_and_step_and_change_nothing_at_strength_zero(make, draw, norm):
    """The explicit form of attention equals the fused kernel: outputs and gradients."""
    for components in ((), (Everything(1.0),)):
        model = make(extra_components=components, norm=norm)
        check_batching(model, draw(6, seed=7))
        check_steps(model, draw(3, seed=6))
    model = make(extra_components=(Everything(0.0),), norm=norm)
    check_baseline(model, make(norm=norm), make_batch(draw(5, seed=3), np.arange(5), model.components))


@pytest.mark.parametrize("name", sorted(COMPONENTS))
def test_losses_are_in_single_precision_if_the_model_runs_in_half_precision(name, make, example, draw):
    model = make(example(name)).float()
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
