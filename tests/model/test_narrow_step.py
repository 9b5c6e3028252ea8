"""Steps of layers with narrow heads equal those of other layers, but for rounding."""

import pytest
import torch
from model.stepping import at_precision, step_logits

from nmtcore.model import narrow_step
from nmtcore.model.cache import ROOM, Cache, CacheByPosition
from nmtcore.model.narrow_step import NarrowStep


@pytest.mark.parametrize(
    ("settings", "precision"),
    [
        ({}, "float64"),
        ({"norm": "post"}, "float64"),
        ({"width": 64, "heads": 2}, "float32"),
        ({"width": 24, "heads": 1}, "int8"),
    ],
)
@torch.inference_mode()
def test_a_narrow_step_is_the_step_of_the_layers(settings, precision, make, draw, monkeypatch):
    model, examples = at_precision(make(**settings), precision), draw(4, seed=2)
    narrow, steps = step_logits(model, examples, beams=3, positions=2 * ROOM + 2)
    assert all(isinstance(step, NarrowStep) for step in steps)
    monkeypatch.setattr(narrow_step, "WIDEST_NARROW_HEAD", 0)
    expected, _ = step_logits(model, examples, beams=3, positions=2 * ROOM + 2)
    # In 8 bits, a difference of rounding can become one of a whole step of the scale.
    tolerance = {"float64": 1e-10, "float32": 1e-5, "int8": 0.05}[precision]
    for own_RV, expected_RV in zip(narrow, expected, strict=True):
        torch.testing.assert_close(own_RV, expected_RV, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("make_cache", [Cache, CacheByPosition])
def test_rows_keep_their_positions_when_they_are_selected_and_room_grows(make_cache):
    generator = torch.Generator().manual_seed(3)
    rows, layers, heads, width = 5, 2, 3, 4
    cache = make_cache(torch.empty(rows, heads, 7, width), layers)
    written = [[] for _ in range(rows)]
    for position in range(3 * ROOM):
        cache.make_room()
        new_RY2HE = torch.randn(len(written), layers, 2, heads, width, generator=generator)
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
