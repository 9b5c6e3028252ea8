"""A step without the calls of modules equals the step of the layers."""

import pytest
import torch
from model.stepping import at_precision, step_logits

from nmtcore.model import narrow_step, plain_step
from nmtcore.model.plain_step import PlainStep


@pytest.fixture(autouse=True)
def _no_narrow_heads(monkeypatch):
    """Use no `NarrowStep`, which equals the layers' steps only up to rounding."""
    monkeypatch.setattr(narrow_step, "WIDEST_NARROW_HEAD", 0)


@pytest.mark.parametrize(
    ("settings", "precision"),
    [
        ({}, "float64"),
        ({"norm": "post"}, "float32"),
        ({"positions": "none"}, "bfloat16"),
        ({"width": 64, "heads": 2}, "int8"),
    ],
)
@torch.inference_mode()
def test_a_plain_step_is_the_step_of_the_layers(settings, precision, make, draw, monkeypatch):
    model, examples = at_precision(make(**settings), precision), draw(4, seed=2)
    plain, steps = step_logits(model, examples, beams=3)
    assert all(isinstance(step, PlainStep) for step in steps)
    monkeypatch.setattr(plain_step, "PLAIN_STEPS", False)
    expected, _ = step_logits(model, examples, beams=3)
    torch.testing.assert_close(plain, expected)


@pytest.mark.parametrize("place", ["forward", "forward_pre"])
@torch.inference_mode()
def test_hooks_that_were_registered_with_torch_are_called(place, make, draw):
    model, calls = make(), []
    getattr(model.decoder[1].cross.queries, f"register_{place}_hook")(lambda *_: calls.append(1))
    step_logits(model, draw(4, seed=2))
    assert len(calls) == 3


@torch.inference_mode()
def test_changed_parameters_are_respected(make, draw):
    model, examples = make(), draw(4, seed=2)
    before, _ = step_logits(model, examples)
    model.decoder[0].cross.queries.weight.add_(0.1)
    after, _ = step_logits(model, examples)
    assert not torch.equal(before[0], after[0])
