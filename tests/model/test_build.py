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


def test_the_same_seed_gives_the_same_parameters():
    models = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        models.append(build_model(run(), source_size=30, target_size=30).state_dict())
    assert all(torch.equal(models[0][name], models[1][name]) for name in models[0])
    assert any(not torch.equal(models[0][name], models[2][name]) for name in models[0])


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


def test_a_recurrent_model_is_initialised_by_its_gates():
    torch.manual_seed(0)
    model = build_model(run(base="recurrent", model=RecurrentSettings(width=64)), source_size=300, target_size=300)
    for weight in (model.encoder[0].weight_hh_l0_reverse, model.decoder[1].stepwise.weight):
        rows, columns = weight.size(0) // 4, weight.size(1)
        bound = math.sqrt(6 / (rows + columns))
        assert 0.95 * bound < weight.abs().max() <= bound
    assert not model.encoder[1].bias_ih_l0.any()


def test_xavier_initialises_packed_layers_separately():
    model = build_model(run(), source_size=2000, target_size=2000)
    bound = math.sqrt(6 / (64 + 64))
    for weight in (model.encoder[0].attention.queries_keys_values.weight, model.decoder[0].cross.keys_values.weight):
        assert 0.95 * bound < weight.abs().max() <= bound
    inner = model.encoder[0].feed_forward.inner
    assert 0.95 * math.sqrt(6 / 192) < inner.weight.abs().max() <= math.sqrt(6 / 192)
    assert not inner.bias.any()
    assert model.target_embedding.weight.std().item() == pytest.approx(64**-0.5, rel=0.02)


def test_uniform_draws_all_parameters_but_norms_from_one_range():
    model = build_model(run(), source_size=2000, target_size=2000)
    initialise_model(model, "uniform", 0.04)
    for name, parameter in model.named_parameters():
        if "norm" in name:
            assert torch.equal(parameter, torch.full_like(parameter, float("weight" in name)))
        else:
            assert 0 < parameter.abs().max() <= 0.04, name
