"""A step without the calls of modules equals the step of the layers, to the last bit."""

import pytest
import torch
from model.stepping import at_precision, step_logits

from nmtcore.config.components import COMPONENTS
from nmtcore.model import narrow_step, plain_step
from nmtcore.model.plain_step import PlainStep


@pytest.fixture(autouse=True)
def _no_narrow_heads(monkeypatch):
    """Use no `NarrowStep`, which equals the layers' steps only up to rounding."""
    monkeypatch.setattr(narrow_step, "WIDEST_NARROW_HEAD", 0)


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("precision", ["float64", "float32", "bfloat16", "int8"])
@pytest.mark.parametrize("settings", [{}, {"norm": "post"}, {"positions": "none"}, {"width": 64, "heads": 2}])
@torch.inference_mode()
def test_a_plain_step_is_the_step_of_the_layers(settings, precision, beams, make, draw, monkeypatch):
    model, examples = at_precision(make(**settings), precision), draw(4, seed=2)
    plain, steps = step_logits(model, examples, beams=beams)
    assert all(isinstance(step, PlainStep) for step in steps)
    monkeypatch.setattr(plain_step, "PLAIN_STEPS", False)
    expected, steps = step_logits(model, examples, beams=beams)
    assert not any(isinstance(step, PlainStep) for step in steps)
    assert all(map(torch.equal, plain, expected))


@pytest.mark.parametrize(
    "name", sorted(name for name, settings in COMPONENTS.items() if "transformer" in settings.bases)
)
@torch.inference_mode()
def test_only_layers_without_hooks_have_a_plain_step(name, example, make, draw):
    model = make(example(name))
    _, steps = step_logits(model, draw(4, seed=2))
    changed = [
        any(component.attention_hooks(stack, i) for component in model.components for stack in ("decoder", "cross"))
        for i in range(len(model.decoder))
    ]
    assert [not isinstance(step, PlainStep) for step in steps] == changed


@pytest.mark.parametrize("place", ["forward", "forward_pre"])
@torch.inference_mode()
def test_hooks_that_were_registered_with_torch_are_called(place, make, draw):
    model, calls = make(), []
    getattr(model.decoder[1].cross.queries, f"register_{place}_hook")(lambda *_: calls.append(1))
    _, steps = step_logits(model, draw(4, seed=2))
    assert [isinstance(step, PlainStep) for step in steps] == [True, False]
    assert len(calls) == 3


@torch.inference_mode()
def test_training_and_changed_parameters_are_respected(make, draw):
    model, examples = make(), draw(4, seed=2)
    before, _ = step_logits(model, examples)
    model.decoder[0].cross.queries.weight.add_(0.1)
    after, _ = step_logits(model, examples)
    assert not torch.equal(before[0], after[0])
    model.train()
    assert not any(isinstance(step, PlainStep) for step in step_logits(model, examples)[1])
