"""Tests of building a model from settings, and of its initial values."""

import math

import pytest
import torch
from factories import run_settings

from nmtcore.config.components import DepParseSettings
from nmtcore.config.training import RecurrentSettings, TransformerSettings
from nmtcore.errors import UserError
from nmtcore.model import build
from nmtcore.model.build import build_model, initialise_model

MODEL = TransformerSettings(width=64, feed_forward=128, heads=4, encoder_layers=2, decoder_layers=1)


def run(**changes):
    """Make the settings of a run that is called `mine`."""
    return run_settings(DepParseSettings(layer=1), **{"system": "mine", "model": MODEL, **changes})


def test_a_model_that_does_not_fit_into_memory_is_not_built(monkeypatch):
    large = run(model=TransformerSettings(width=1_000_000, heads=2))
    sentence = r"^The parameters of the model of mine take 288,197\.3 GB, and this machine has "
    with pytest.raises(UserError, match=sentence):
        build_model(large, source_size=30, target_size=30)
    parameters = sum(p.numel() for p in build_model(run(), source_size=30, target_size=30).parameters())
    monkeypatch.setattr(build.os, "sysconf", lambda name: 1 if name == "SC_PAGE_SIZE" else 4 * parameters)
    build_model(run(), source_size=30, target_size=30)
    with pytest.raises(UserError, match=r"0\.0 GB of memory: make the model smaller\.$"):
        build_model(run(), source_size=31, target_size=31)


def test_xavier_initialises_packed_layers_and_gates_separately():
    recurrent = run(base="recurrent", model=RecurrentSettings(width=64))
    plain, gated = (build_model(settings, source_size=2000, target_size=2000) for settings in (run(), recurrent))
    layer, inner = plain.encoder[0].attention.queries_keys_values, plain.encoder[0].feed_forward.inner
    weights = [(layer.weight, 3), (plain.decoder[0].cross.keys_values.weight, 2), (inner.weight, 1)]
    weights += [(gated.encoder[0].weight_hh_l0_reverse, 4), (gated.decoder[1].stepwise.weight, 4)]
    for weight, parts in weights:
        bound = math.sqrt(6 / (weight.size(0) // parts + weight.size(1)))
        assert 0.95 * bound < weight.abs().max() <= bound
    assert not any(bias.any() for bias in (inner.bias, gated.encoder[1].bias_ih_l0))
    assert plain.target_embedding.weight.std().item() == pytest.approx(64**-0.5, rel=0.02)


def test_uniform_draws_all_parameters_but_norms_from_one_range():
    model = build_model(run(), source_size=2000, target_size=2000)
    initialise_model(model, "uniform", 0.04)
    for name, parameter in model.named_parameters():
        if "norm" in name:
            assert torch.equal(parameter, torch.full_like(parameter, float("weight" in name)))
        else:
            assert 0 < parameter.abs().max() <= 0.04, name
