"""Tests of the transformer against plain loops, and of the recording of its attention."""

import numpy as np
import pytest
import torch
from factories import forced_logits, target_mask
from model.comparing import check_logits
from oracles import TransformerOracle

from nmtcore.config.components import DepParseSettings, LabelHeadSettings, RelativePositionsSettings
from nmtcore.model.batch import make_batch
from nmtcore.model.components.attention_maps import AttentionMaps


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("positions", ["sinusoidal", "none"])
@pytest.mark.parametrize("joint", [True, False])
def test_logits_equal_those_of_the_oracle(make, draw, norm, positions, joint):
    model, examples = make(norm=norm, positions=positions, joint=joint), draw(3, seed=1, longest=4)
    check_logits(model, make_batch(examples, np.arange(3)), lambda row: TransformerOracle(model))


@pytest.mark.parametrize("probability", [None, 0.0])
def test_dropout_of_embeddings_is_that_of_the_model_unless_it_has_its_own(make, draw, probability):
    model, examples = make(embedding_dropout=probability), draw(3, seed=1, longest=4)
    check_logits(model, make_batch(examples, np.arange(3)), lambda row: TransformerOracle(model))


def test_a_joint_vocabulary_has_one_embedding_and_the_output_is_tied(make):
    joint, separate = make(joint=True), make(joint=False)
    assert joint.source_embedding is joint.target_embedding
    assert separate.source_embedding is not separate.target_embedding
    embedded = sum(p.numel() for p in separate.parameters()) - sum(p.numel() for p in joint.parameters())
    assert embedded == separate.source_embedding.weight.numel()


def test_positions_of_long_sentences_in_steps_equal_those_of_whole_targets(make, draw):
    model, batch = make(), make_batch(draw(1, seed=1), np.arange(1))
    target_BT = torch.randint(5, 20, (1, 300))
    with torch.no_grad():
        context = model.encode(batch)
        state, whole = model.start(context), model.logits(model.decode(target_BT, context), context)
        steps = torch.stack([model.step(target_BT[:, t], state) for t in range(300)], dim=1)
    torch.testing.assert_close(steps, whole)


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


def test_steps_of_a_search_are_not_recorded(make, draw):
    model = make(extra_components=(AttentionMaps(),))
    batch = make_batch(draw(3, seed=1), np.arange(3), model.components)
    with torch.no_grad():
        context = model.encode(batch)
        state = model.start(context)
        model.step(batch.target_input_BT[:, 0], state)
    assert {stack for stack, _ in context.notes["attention_maps"]} == {"encoder"}
