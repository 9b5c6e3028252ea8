"""Dependency labels within the source's embeddings, against the definition spelled out."""

import numpy as np
import pytest
import torch
from named_components import by_name
from oracles import sinusoid_table

from nmtcore.config.components import check_composition
from nmtcore.config.components.parser_head import DepParseSettings
from nmtcore.config.components.sennrich_haddow import SennrichHaddowSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.errors import UserError
from nmtcore.model.batch import make_batch
from nmtcore.model.build import build_components


class Inputs:
    """Records what the first layer of an encoder gets."""

    def __init__(self, model):
        model.encoder[0].register_forward_pre_hook(lambda layer, inputs: setattr(self, "states", inputs[0].detach()))


@pytest.mark.parametrize(("width", "prefix"), [(10, 0), (3, 0), (10, 1)])
def test_equals_the_definition(make, draw, labels, width, prefix):
    model, examples = (
        make(SennrichHaddowSettings(width=width), *[DepParseSettings(layer=1)] * prefix, seed=2),
        draw(6, seed=8),
    )
    batch, inputs = make_batch(examples, np.arange(6), model.components), Inputs(model)
    with torch.no_grad():
        model.encode(batch)
    tokens, own = model.source_embedding.weight.detach(), model.components[0].embedding.weight.detach()
    count, table = len(labels["source"]["deprel"]), sinusoid_table(inputs.states.size(1), 16)
    for row in range(6):
        words = examples.source.word_of_subword[row]
        of_words = examples.source.features["deprel"][row]
        ids = [count + 1] * prefix + [int(of_words[w]) for w in words] + [count]
        for place, label in enumerate(ids):
            for i in range(16):
                scaled = tokens[batch.source_BS[row, place], i] * 4
                wanted = scaled if i < 16 - width else own[label, i - (16 - width)]
                assert abs(inputs.states[row, place, i] - wanted - table[place, i]) < 1e-12


def test_only_the_last_dimensions_hear_of_a_label(make, draw):
    model, examples = make(SennrichHaddowSettings()), draw(3, seed=5)
    inputs = Inputs(model)
    with torch.no_grad():
        model.encode(make_batch(examples, np.arange(3), model.components))
        before = inputs.states
        examples.source.features["deprel"].values[:] = 0  # no annotation at all
        model.encode(make_batch(examples, np.arange(3), model.components))
    assert torch.equal(inputs.states[..., :6], before[..., :6])
    assert not torch.equal(inputs.states[..., 6:], before[..., 6:])


def test_no_vocabulary_is_a_sentence():
    with pytest.raises(UserError, match=r"sennrich_haddow reads the deprel .* is missing"):
        build_components(by_name(SennrichHaddowSettings()), TransformerSettings(), None)


def test_settings():
    assert SennrichHaddowSettings().needs == {"source": ("trees",)}
    with pytest.raises(UserError, match="width 10 leaves nothing of a token's embedding of width 8"):
        check_composition(by_name(SennrichHaddowSettings()), TransformerSettings(width=8, heads=2), where="x")
    with pytest.raises(UserError, match=r"both claim source.embedding.last"):
        check_composition(by_name(SennrichHaddowSettings(), SennrichHaddowSettings()), TransformerSettings(), where="x")
    with pytest.raises(ValueError, match="at least 1"):
        SennrichHaddowSettings(width=0)
