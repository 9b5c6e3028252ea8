"""Lengths that are padded to multiples of a number change neither losses nor gradients."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from nmtcore.config.bases import BASES
from nmtcore.config.components import COMPONENTS
from nmtcore.config.components.settings import HeadSelectionSettings
from nmtcore.features.transforms.interleave import interleave_tags
from nmtcore.model.batch import make_batch

ROWS = np.arange(6)
CASES = [(name, base) for name, cls in sorted(COMPONENTS.items()) for base in cls.bases] + [(None, b) for b in BASES]


def assert_padding_changes_nothing(model, examples):
    """Compare losses, measures and gradients of a batch with no padding but the least, and with more."""
    plain, rounded = (make_batch(examples, ROWS, model.components, multiple=multiple) for multiple in (1, 16))
    results = []
    for batch in (plain, rounded):
        losses = model.loss(batch, label_smoothing=0.1)
        gradients = torch.autograd.grad(losses.objective(), list(model.parameters()), allow_unused=True)
        with torch.no_grad():
            measures = dict(model.loss(batch).measures)
        results.append(([part.sum for part in losses.parts], losses.nll_sum, measures, gradients))
    for batch in (plain, rounded):
        assert batch.counts == plain.counts
        assert batch.tokens == plain.tokens
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b)
    widths = [side.size(1) for side in (rounded.source_BS, rounded.target_input_BT, rounded.target_output_BT)]
    assert all(width % 16 == 0 for width in widths)
    return plain, rounded


@pytest.mark.parametrize(("name", "base"), CASES)
def test_losses_and_gradients_are_the_same(name, base, example, make, draw):
    model = make(*([] if name is None else [example(name)]), base=base)
    plain, rounded = assert_padding_changes_nothing(model, draw(len(ROWS), seed=8))
    assert rounded.source_BS.size(1) > plain.source_BS.size(1)
    assert rounded.target_input_BT.size(1) > plain.target_input_BT.size(1)


@pytest.mark.parametrize("roots", ["one", "many"])
@pytest.mark.parametrize("root", ["own", "learned"])
def test_trees_of_head_selection_are_the_same(roots, root, make, draw):
    model = make(HeadSelectionSettings(roots=roots, root=root), base="recurrent")
    assert_padding_changes_nothing(model, draw(len(ROWS), seed=8))


def test_interleaved_tags_are_padded_too(make, draw, example):
    examples = draw(len(ROWS), seed=8)
    tag_of_label = np.array([1, 1, 7, 8, 9])
    source, target = (
        interleave_tags(side, side.features["ccg"], tag_of_label) for side in (examples.source, examples.target)
    )
    tagged = replace(examples, source=source, target=target)
    assert tagged.source.ids.lengths.sum() > examples.source.ids.lengths.sum()
    assert_padding_changes_nothing(make(example("depparse"), example("tree_distance")), tagged)
