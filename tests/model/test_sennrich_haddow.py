"""Tests of dependency labels in the source embeddings, against their definition in loops."""

import numpy as np
import pytest
import torch
from named_components import by_name
from oracles import sinusoid_table

from nmtcore.config.components import check_composition
from nmtcore.config.components.settings import DepParseSettings, SennrichHaddowSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.errors import UserError
from nmtcore.model.batch import make_batch
from nmtcore.model.build import build_components


class FirstLayerInput:
    """Records the input of the encoder's first layer."""

    def __init__(self, model):
        model.encoder[0].register_forward_pre_hook(lambda layer, inputs: setattr(self, "states", inputs[0].detach()))


@pytest.mark.parametrize(("width", "prefix"), [(10, 0), (3, 0), (10, 1)])
def test_embeddings_equal_the_definition(make, draw, labels, width, prefix):
    model = make(SennrichHaddowSettings(width=width), *[DepParseSettings(layer=1)] * prefix, seed=2)
    examples = draw(6, seed=8)
    batch, inputs = make_batch(examples, np.arange(6), model.components), FirstLayerInput(model)
    with torch.no_grad():
        model.encode(batch)
    token_table, label_table = model.source_embedding.weight.detach(), model.components[0].embedding.weight.detach()
    count, positions = len(labels["source"]["deprel"]), sinusoid_table(inputs.states.size(1), 16)
    for row in range(6):
        words = examples.source.word_of_subword[row]
        word_labels = examples.source.features["deprel"][row]
        ids = [count + 1] * prefix + [int(word_labels[w]) for w in words] + [count]
        for column, label in enumerate(ids):
            for i in range(16):
                scaled = token_table[batch.source_BS[row, column], i] * 4
                expected = scaled if i < 16 - width else label_table[label, i - (16 - width)]
                assert abs(inputs.states[row, column, i] - expected - positions[column, i]) < 1e-12


def test_labels_affect_only_the_last_dimensions(make, draw):
    model, examples = make(SennrichHaddowSettings()), draw(3, seed=5)
    inputs = FirstLayerInput(model)
    with torch.no_grad():
        model.encode(make_batch(examples, np.arange(3), model.components))
        before = inputs.states
        examples.source.features["deprel"].values[:] = 0  # no annotation at all
        model.encode(make_batch(examples, np.arange(3), model.components))
    assert torch.equal(inputs.states[..., :6], before[..., :6])
    assert not torch.equal(inputs.states[..., 6:], before[..., 6:])


def test_a_missing_vocabulary_is_a_user_error():
    with pytest.raises(UserError, match=r"sennrich_haddow reads the deprel .* is missing"):
        build_components(by_name(SennrichHaddowSettings()), TransformerSettings(), None)


def test_needs_claims_and_errors_of_the_settings():
    assert SennrichHaddowSettings().needs == {"source": ("trees",)}
    with pytest.raises(UserError, match="width 10 leaves nothing of a token's embedding of width 8"):
        check_composition(
            by_name(SennrichHaddowSettings()), "transformer", TransformerSettings(width=8, heads=2), where="x"
        )
    with pytest.raises(UserError, match=r"both claim source.embedding.last"):
        check_composition(
            by_name(SennrichHaddowSettings(), SennrichHaddowSettings()), "transformer", TransformerSettings(), where="x"
        )
    with pytest.raises(ValueError, match="between 1 and 1000000"):
        SennrichHaddowSettings(width=0)
