"""Steps of layers with narrow heads equal those of other layers, but for rounding."""

import pytest
import torch
from model.stepping import at_precision, step_logits

from nmtcore.model import narrow_step
from nmtcore.model.attention import KeysValues
from nmtcore.model.batch import make_batch
from nmtcore.model.cache import ROOM, Cache, CacheByPosition
from nmtcore.model.narrow_step import MemoryByPosition, NarrowStep


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("precision", ["float64", "float32", "int8"])
@pytest.mark.parametrize("settings", [{}, {"norm": "post"}, {"width": 64, "heads": 2}, {"width": 24, "heads": 1}])
@torch.inference_mode()
def test_a_narrow_step_is_the_step_of_the_layers(settings, precision, beams, make, draw, monkeypatch):
    model, examples = at_precision(make(**settings), precision), draw(4, seed=2)
    narrow, steps = step_logits(model, examples, beams=beams, positions=2 * ROOM + 2)
    assert all(isinstance(step, NarrowStep) for step in steps)
    monkeypatch.setattr(narrow_step, "WIDEST_NARROW_HEAD", 0)
    expected, steps = step_logits(model, examples, beams=beams, positions=2 * ROOM + 2)
    assert not any(isinstance(step, NarrowStep) for step in steps)
    # In 8 bits, a difference of rounding can become one of a whole step of the scale.
    tolerance = {"float64": 1e-10, "float32": 1e-5, "int8": 0.05}[precision]
    for own_RV, expected_RV in zip(narrow, expected, strict=True):
        torch.testing.assert_close(own_RV, expected_RV, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("case", ["wide heads", "bfloat16", "gradients", "a hook in one layer"])
def test_other_layers_have_no_narrow_step(case, make, draw):
    model = make(width=128, heads=2) if case == "wide heads" else make()
    if case == "bfloat16":
        model.bfloat16()
    if case == "a hook in one layer":
        model.decoder[1].register_forward_hook(lambda *_: None)
    with torch.set_grad_enabled(case == "gradients"):
        state = model.start(model.encode(make_batch(draw(4, seed=2), range(4), model.components, "cpu")))
    assert not any(isinstance(step, NarrowStep) for step in state.steps)


@pytest.mark.parametrize("make_cache", [Cache, CacheByPosition])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rows_keep_their_positions_when_they_are_selected_and_room_grows(make_cache, dtype):
    generator = torch.Generator().manual_seed(3)
    rows, layers, heads, width = 5, 2, 3, 4
    cache = make_cache(torch.empty(rows, heads, 7, width, dtype=dtype), layers)
    written = [[] for _ in range(rows)]
    for position in range(3 * ROOM):
        cache.make_room()
        new_RY2HE = torch.randn(len(written), layers, 2, heads, width, generator=generator, dtype=dtype)
        for layer, view in enumerate(cache.of_layers()):
            if make_cache is Cache:
                view[:, position] = new_RY2HE[:, layer]
            else:
                view[position] = new_RY2HE[:, layer].permute(1, 3, 0, 2)
        cache.length += 1
        chosen = torch.randint(len(written), (1 + (7 * position) % 11,), generator=generator)
        written = [[*row, new] for row, new in zip(written, new_RY2HE, strict=True)]
        written = [written[row] for row in chosen.tolist()]
        cache.select(chosen)
    expected_RZY2HE = torch.stack([torch.stack(row) for row in written])
    for layer, view in enumerate(cache.of_layers()):
        by_row = view if make_cache is Cache else view.permute(3, 0, 1, 4, 2)
        assert torch.equal(by_row[:, : cache.length], expected_RZY2HE[:, :, layer])


def test_attention_of_one_narrow_head_is_a_weighted_mean():
    keys_BHSE, values_BHSE = torch.tensor([[1.0, 2.0, 9.0], [5.0, 7.0, 8.0]]).view(2, 1, 1, 3, 1)
    mask_B11S = torch.tensor([[[[0.0, 0.0, -torch.inf]]]])
    memory = MemoryByPosition.of(KeysValues(keys_BHSE, values_BHSE), mask_B11S)
    mixed_B1HE = memory.attend(torch.tensor([[[[3.0]]]]), mask_B11S)
    first, second = torch.tensor([3.0, 6.0]).softmax(0)
    assert mixed_B1HE.item() == pytest.approx(float(5 * first + 7 * second))
