"""Tests of the transformer without components, against plain loops."""

import numpy as np
import pytest
import torch
from factories import forced_logits, target_mask
from oracles import TransformerOracle

from nmtcore.model.batch import make_batch

CLOSE = {"rtol": 1e-9, "atol": 1e-10}


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("positions", ["sinusoidal", "none"])
@pytest.mark.parametrize("joint", [True, False])
def test_logits_equal_those_of_the_oracle(make, draw, norm, positions, joint):
    model, examples = make(norm=norm, positions=positions, joint=joint), draw(3, seed=1, longest=4)
    batch = make_batch(examples, np.arange(3))
    logits = forced_logits(model, batch).detach().numpy()
    oracle = TransformerOracle(model)
    for i in range(3):
        source = batch.source_BS[i][batch.source_mask_BS[i]].tolist()
        target = batch.target_input_BT[i][target_mask(batch)[i]].tolist()
        np.testing.assert_allclose(logits[i, : len(target)], oracle.logits(source, target), **CLOSE)


def test_a_joint_vocabulary_has_one_embedding_and_the_output_is_tied(make):
    joint, separate = make(joint=True), make(joint=False)
    assert joint.source_embedding is joint.target_embedding
    assert separate.source_embedding is not separate.target_embedding
    embedded = sum(p.numel() for p in separate.parameters()) - sum(p.numel() for p in joint.parameters())
    assert embedded == separate.source_embedding.weight.numel()


def test_joint_vocabularies_of_two_sizes_are_refused(make):
    from nmtcore.model.transformer import Transformer

    with pytest.raises(ValueError, match="one size, not 20 and 30"):
        Transformer(make().settings, source_size=20, target_size=30, joint=True)


def test_positions_of_long_sentences_in_steps_equal_those_of_whole_targets(make, draw):
    """Also beyond the first table of sinusoids, which is not a part of the model's files."""
    model, batch = make(), make_batch(draw(1, seed=1), np.arange(1))
    target_BT = torch.randint(5, 20, (1, 300))
    with torch.no_grad():
        encoded = model.encode(batch)
        state, whole = model.start(encoded), model.logits(model.decode(target_BT, encoded), encoded.context)
        steps = torch.stack([model.step(target_BT[:, t], state) for t in range(300)], dim=1)
    torch.testing.assert_close(steps, whole, **CLOSE)
    assert not [name for name in model.state_dict() if "positions" in name]


def test_dropout_is_applied_only_in_training(make, draw):
    batch = make_batch(draw(4, seed=3), np.arange(4))
    for name in ("dropout", "attention_dropout", "activation_dropout"):
        model = make(**{"dropout": 0.0, name: 0.5})
        still = forced_logits(model, batch)
        assert torch.equal(still, forced_logits(model, batch))
        model.train()
        assert not torch.allclose(still, forced_logits(model, batch)), name


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
