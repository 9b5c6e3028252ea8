"""Tests of the attention maps: they are the weights of the values, and recording changes nothing."""

import numpy as np
import pytest
import torch

from nmtcore.config.components.settings import DepParseSettings, LabelHeadSettings, RelativePositionsSettings
from nmtcore.model.batch import make_batch
from nmtcore.model.components.attention_maps import AttentionMaps

SYSTEMS = {
    "plain": [],
    "bias": [RelativePositionsSettings(maximum=2)],
    "queries and keys": [LabelHeadSettings(labels="upos")],
    "another observer": [DepParseSettings(layer=1), RelativePositionsSettings()],
}


def run(model, examples):
    batch = make_batch(examples, np.arange(len(examples)), model.components)
    with torch.no_grad():
        encoded = model.encode(batch)
        return encoded.context, model.logits(model.decode(batch.target_input_BT, encoded), encoded.context)


@pytest.mark.parametrize("settings", SYSTEMS.values(), ids=SYSTEMS)
def test_recorded_weights_are_those_of_the_values_and_logits_do_not_change(make, draw, settings):
    examples, maps, calls = draw(4, seed=3), AttentionMaps(), {}
    _, plain = run(make(*settings), examples)
    model = make(*settings, extra_components=(maps,))
    attentions = {("encoder", i): layer.attention for i, layer in enumerate(model.encoder)}
    attentions |= {("cross", i): layer.cross for i, layer in enumerate(model.decoder)}
    for name, attention in attentions.items():
        attention.register_forward_hook(lambda _, inputs, output, name=name: calls.update({name: (inputs, output)}))
    context, observed = run(model, examples)
    torch.testing.assert_close(observed, plain, rtol=0, atol=1e-10)
    recorded = maps.maps(context)
    assert recorded.keys() == attentions.keys() == calls.keys()
    for name, weights_BHQK in recorded.items():
        attention, ((states_BQD, memory, *_), output_BQD) = attentions[name], calls[name]
        packed = name[0] == "encoder"
        *_, values_BHKE = attention.split(attention.queries_keys_values(states_BQD)) if packed else memory
        expected_BQD = attention.output((weights_BHQK @ values_BHKE).transpose(1, 2).flatten(2))
        torch.testing.assert_close(output_BQD, expected_BQD, rtol=0, atol=1e-10)


def test_steps_of_a_search_are_not_recorded(make, draw):
    model = make(extra_components=(AttentionMaps(),))
    batch = make_batch(draw(3, seed=1), np.arange(3), model.components)
    with torch.no_grad():
        encoded = model.encode(batch)
        state = model.start(encoded)
        model.step(batch.target_input_BT[:, 0], state)
    assert {stack for stack, _ in encoded.context.notes["attention_maps"]} == {"encoder"}
