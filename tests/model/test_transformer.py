"""Tests of the transformer against plain loops, and of the recording of its attention."""

import numpy as np
import pytest
import torch
from factories import forced_logits, target_mask
from model.comparing import check_logits
from oracles import TransformerOracle

from nmtcore.config.components import DepParseSettings, LabelHeadSettings, RelativePositionsSettings
from nmtcore.inference.attention import AttentionMaps
from nmtcore.model.batch import make_batch
from nmtcore.segmentation.vocabulary import BOS


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("positions", ["sinusoidal", "none"])
@pytest.mark.parametrize(("joint", "embedding_dropout"), [(True, None), (False, 0.4)])
def test_logits_equal_those_of_the_oracle(make, draw, norm, positions, joint, embedding_dropout):
    model = make(norm=norm, positions=positions, joint=joint, embedding_dropout=embedding_dropout)
    assert (model.source_embedding is model.target_embedding) == joint
    examples = draw(3, seed=1, longest=4)
    check_logits(model, make_batch(examples, np.arange(3)), lambda row: TransformerOracle(model))


def test_losses_are_sums_over_real_tokens(make, draw):
    model, batch = make(), make_batch(draw(5, seed=8), np.arange(5))
    losses = model.loss(batch)
    log = forced_logits(model, batch).log_softmax(-1)
    expected = -sum(
        log[b, t, batch.target_output_BT[b, t]]
        for b in range(5)
        for t in range(batch.target_output_BT.size(1))
        if target_mask(batch)[b, t]
    )
    torch.testing.assert_close(losses.parts[0].sum, expected)
    torch.testing.assert_close(losses.nll_sum, expected.detach())
    assert losses.parts[0].count == int(target_mask(batch).sum())
    torch.testing.assert_close(losses.objective(), expected / losses.parts[0].count)
    torch.testing.assert_close(losses.objective({"translation": 7}), expected / 7)


SYSTEMS = {
    "plain": [],
    "bias": [RelativePositionsSettings(maximum=2)],
    "queries and keys": [LabelHeadSettings(labels="upos")],
    "another observer": [DepParseSettings(layer=1), RelativePositionsSettings()],
}


def run(model, examples):
    batch = make_batch(examples, np.arange(len(examples)), model.components)
    with torch.no_grad():
        context = model.encode(batch)
        return context, model.logits(model.decode(batch.target_input_BT, context), context)


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
    # The steps of a search are not recorded.
    with torch.no_grad():
        context = model.encode(make_batch(examples, np.arange(4), model.components))
        model.step(torch.full((4,), BOS), model.start(context))
    assert {stack for stack, _ in maps.maps(context)} == {"encoder"}
