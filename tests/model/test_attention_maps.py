"""Tests of the attention maps: they equal the weights of the explicit form, and recording changes nothing."""

import numpy as np
import pytest
import torch

from nmtcore.config.components.settings import DepParseSettings, LabelHeadSettings, RelativePositionsSettings
from nmtcore.model.batch import make_batch
from nmtcore.model.components.attention_maps import AttentionMaps
from nmtcore.model.components.base import AttentionHooks, Build, Component


class Weights(Component):
    """Records the weights of the explicit form."""

    def __init__(self):
        super().__init__(None, Build(name="weights"))
        self.recorded = {}

    def attention_hooks(self, stack, layer):
        def mixed(mixed_BHQE, weights_BHQK, inputs):
            self.recorded[stack, layer] = weights_BHQK
            return mixed_BHQE

        return AttentionHooks(mixed=mixed)


SYSTEMS = {
    "plain": [],
    "bias": [RelativePositionsSettings(maximum=2)],
    "queries and keys": [LabelHeadSettings(labels="upos")],
    "another observer": [DepParseSettings(layer=1), RelativePositionsSettings()],
}


@pytest.fixture(params=SYSTEMS)
def settings(request):
    return SYSTEMS[request.param]


def run(model, examples):
    batch = make_batch(examples, np.arange(len(examples)), model.components)
    with torch.no_grad():
        encoded = model.encode(batch)
        return encoded.context, model.logits(model.decode(batch.target_input_BT, encoded), encoded.context)


def test_recorded_weights_are_those_of_the_explicit_form_and_logits_do_not_change(make, draw, settings):
    examples, maps, weights = draw(4, seed=3), AttentionMaps(), Weights()
    _, plain = run(make(*settings), examples)
    context, observed = run(make(*settings, extra_components=(maps,)), examples)
    torch.testing.assert_close(observed, plain, rtol=0, atol=1e-10)
    run(make(*settings, extra_components=(weights,)), examples)
    recorded = maps.maps(context)
    assert set(recorded) == {("encoder", 0), ("encoder", 1), ("encoder", 2), ("cross", 0), ("cross", 1)}
    for layer, weights_BHQK in recorded.items():
        torch.testing.assert_close(weights_BHQK, weights.recorded[layer], rtol=0, atol=1e-10)


def test_steps_of_a_search_are_not_recorded(make, draw):
    model = make(extra_components=(AttentionMaps(),))
    batch = make_batch(draw(3, seed=1), np.arange(3), model.components)
    with torch.no_grad():
        encoded = model.encode(batch)
        state = model.start(encoded)
        model.step(batch.target_input_BT[:, 0], state)
    assert {stack for stack, _ in encoded.context.notes["attention_maps"]} == {"encoder"}
