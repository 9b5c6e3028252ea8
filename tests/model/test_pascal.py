"""Tests of parent-scaled heads against double loops."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from model.comparing import check_baseline, check_logits
from model.trees import TREES, columns_of_word, pairs, parent_of
from oracles import TransformerOracle

from nmtcore.config.components import DepParseSettings, PascalSettings
from nmtcore.model.batch import make_batch

PREFIX = DepParseSettings(layer=2, weight=0.0)
DRAWS = PascalSettings(heads=2, ignoring=0.5)


def expected_weights(words, governors, *, offset=0, variance=1.0, parent_only=False):
    """Compute in loops the factors of all scores between real tokens: prefix, subwords, `</s>`."""
    length = offset + len(words) + 1
    weights = np.ones((length, length))
    if all(governor == -2 for governor in governors):
        return weights
    for t in range(length):
        outside = t < offset or t == length - 1
        if not outside and governors[words[t - offset]] == -2:
            continue
        columns = [t]
        if not outside:
            columns = [offset + c for c in columns_of_word(parent_of(words[t - offset], governors), words)]
        center = sum(columns) / len(columns)
        for j in range(length):
            bell = math.exp(-((j - center) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
            weights[t, j] = float(abs(j - center) < 1) if parent_only else bell
    return weights


class ScaledOracle(TransformerOracle):
    """The oracle with scaled scores in some heads, for one sentence."""

    def __init__(self, model, settings, factors):
        super().__init__(model)
        self.names = {f"encoder.{layer}.attention" for layer in settings.layers}
        self.scaled, self.factors = settings.heads, factors

    def scores(self, name, head, states, queries, keys):
        scores = super().scores(name, head, states, queries, keys)
        return scores * self.factors if name in self.names and head < self.scaled else scores


def trees_of(examples, i):
    return examples.source.word_of_subword[i].tolist(), examples.source.features["governor"][i].tolist()


@pytest.mark.parametrize("trees", ["drawn", "odd"])
@pytest.mark.parametrize(
    ("norm", "settings", "prefix"),
    [
        ("post", PascalSettings(heads=2), ()),
        ("pre", PascalSettings(heads=3, layers=(1,), variance=4.0), (PREFIX,)),
        ("post", PascalSettings(heads=3, layers=(0, 2), parent_only=True, ignoring=0.5), (PREFIX,)),
        ("pre", PascalSettings(heads=4, variance=0.3), ()),
    ],
)
def test_logits_equal_those_of_the_oracle(make, draw, norm, settings, prefix, trees):
    examples = draw(6, seed=5) if trees == "drawn" else pairs(*TREES.values())
    model = make(settings, *prefix, norm=norm, language_code=9 if prefix else None)
    batch = make_batch(examples, np.arange(len(examples)), model.components)
    shape = {"variance": settings.variance, "parent_only": settings.parent_only, "offset": 2 * len(prefix)}
    check_logits(
        model,
        batch,
        lambda row: ScaledOracle(model, settings, expected_weights(*trees_of(examples, row), **shape)),
        training=(False,) if settings.ignoring else (True, False),
    )


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("heads", [1, 3, 4])
@pytest.mark.parametrize("neutral", ["every parent ignored", "no annotation"])
def test_without_parents_it_equals_the_baseline(make, draw, norm, heads, neutral):
    ignored = neutral == "every parent ignored"
    model = make(PascalSettings(heads=heads, layers=(0, 1), ignoring=1.0 if ignored else 0.0), norm=norm)
    examples = draw(6, seed=2)
    if not ignored:
        examples.source.features["governor"].values[:] = -2
    batch = make_batch(examples, np.arange(6), model.components)
    model.components.train(ignored)
    check_baseline(model, make(norm=norm), batch)


def rows_of_ones(weights, parents):
    return (weights == 1).all(-1)[parents.unsqueeze(1).expand(weights.shape[:-1]) >= 0]


def test_ignored_rows_are_ones_and_other_rows_are_unchanged(make, draw):
    model = make(DRAWS).train()
    batch = make_batch(draw(40, seed=3), np.arange(40), model.components)
    (pascal,), parents = model.components, batch.extra["pascal.parent_positions"]
    torch.manual_seed(1)
    drawn = pascal.weights(parents, torch.float64)
    whole = pascal.eval().weights(parents, torch.float64)
    ones = (drawn == 1).all(-1, keepdim=True)
    assert torch.equal(drawn.masked_fill(ones, 0), whole.masked_fill(ones, 0))
    assert not rows_of_ones(whole, parents).any()
    # Within 5 standard deviations of a fair coin.
    tossed = rows_of_ones(drawn, parents).double()
    assert abs(tossed.mean() - 0.5) < 5 * 0.5 / len(tossed) ** 0.5


def test_all_layers_ignore_the_same_parents(make, draw):
    settings = dataclasses.replace(DRAWS, layers=(0, 2))
    model, examples = make(settings).train(), draw(6, seed=3)
    batch = make_batch(examples, np.arange(6), model.components)
    torch.manual_seed(1)
    factors_BSS = model.components[0].weights(batch.extra["pascal.parent_positions"], torch.float64)[:, 0].numpy()
    lengths = batch.source_mask_BS.sum(1).tolist()
    torch.manual_seed(1)
    check_logits(
        model,
        batch,
        lambda row: ScaledOracle(model, settings, factors_BSS[row, : lengths[row], : lengths[row]]),
        training=(True,),
    )


def test_distant_positions_are_distinct_in_half_precision(make):
    words = list(range(400))
    model = make(PascalSettings(heads=1))
    batch = make_batch(pairs((words, [-1, *words[:-1]])), np.array([0]), model.components)
    (pascal,), parents = model.components, batch.extra["pascal.parent_positions"]
    half = pascal.weights(parents, torch.bfloat16)
    assert half.dtype == torch.bfloat16
    assert half[0, 0, 399].argmax() == 398
    torch.testing.assert_close(half.double(), pascal.weights(parents, torch.float64), rtol=0.01, atol=1e-6)
