"""Heads that attend by marginals of trees, against the enumeration of all trees."""

import numpy as np
import pytest
import torch
from model.comparing import check_logits
from oracles import TransformerOracle, tree_distribution

from nmtcore.config.components import DepParseSettings, TreeHeadSettings
from nmtcore.inference.attention import AttentionMaps
from nmtcore.inference.parse import parse_of
from nmtcore.model.batch import make_batch


class TreeHeadOracle(TransformerOracle):
    """The oracle with a tree head: every weight is a sum over all trees. `prefix` tokens and `</s>` stand in none."""

    def __init__(self, model, settings, *, prefix=0):
        super().__init__(model)
        self.tree_head, self.prefix = settings, prefix

    def weights(self, name, head, scores):
        weights = super().weights(name, head, scores)
        if name == f"encoder.{self.tree_head.layer}.attention" and head == self.tree_head.head % self.settings.heads:
            inner = slice(self.prefix, len(scores) - 1)
            marginals, _ = tree_distribution(scores[inner, inner].T)
            weights[inner] = 0
            weights[inner, inner] = marginals.T
            self.tree_weights, self.tree_scores = weights, scores
        return weights


def short(examples, longest=5):
    return examples.take(np.flatnonzero(examples.source.ids.lengths <= longest)[:4])


def spread(model, factor=6.0):
    """Enlarge the queries and keys, so that weights are far from uniform."""
    with torch.no_grad():
        for layer in model.encoder:
            layer.attention.queries_keys_values.weight.mul_(factor)
    return model


@pytest.mark.parametrize("settings", [TreeHeadSettings(), TreeHeadSettings(layer=1, head=2)])
@pytest.mark.parametrize("prefix", [0, 1])
def test_logits_and_weights_equal_the_enumeration_of_trees(make, draw, settings, prefix):
    parser = [DepParseSettings(layer=2)] * prefix
    model = spread(make(*parser, settings, extra_components=(AttentionMaps(),)))
    examples = short(draw(12, seed=3, longest=3))
    batch = make_batch(examples, np.arange(len(examples)), tuple(model.components))
    oracles = [TreeHeadOracle(model, settings, prefix=prefix) for _ in range(len(examples))]
    check_logits(model, batch, oracles.__getitem__)
    recorded_BHSS = model.components[-1].maps(model.encode(batch))["encoder", settings.layer].detach()
    for recorded_HSS, oracle in zip(recorded_BHSS, oracles, strict=True):
        n = len(oracle.tree_weights)
        np.testing.assert_allclose(recorded_HSS[settings.head, :n, :n], oracle.tree_weights, atol=1e-10)
        assert not recorded_HSS[settings.head, :, n:].any()


def test_parses_are_the_best_trees_of_the_plain_scores_summed_over_subwords(make, draw):
    settings = TreeHeadSettings()
    model, examples = spread(make(settings)), short(draw(12, seed=3, longest=3))
    batch = make_batch(examples, np.arange(len(examples)), tuple(model.components))
    with torch.no_grad():
        parse_scores = model.parser.parse_scores(model.encode(batch))
    assert model.parser.points_to_root
    for row, scores_W1W in enumerate(parse_scores):
        oracle, words = TreeHeadOracle(model, settings), examples.source.word_of_subword[row]
        oracle.encode(batch.source_BS[row][batch.source_mask_BS[row]].tolist())
        expected = np.zeros((len(scores_W1W), len(scores_W1W) + 1))
        for i, dependent in enumerate(words):
            for j, head in enumerate(words):
                expected[dependent, 0 if dependent == head else head + 1] += oracle.tree_scores[i, j]
        expected[np.arange(len(expected)), np.arange(len(expected)) + 1] = -np.inf
        np.testing.assert_allclose(scores_W1W, expected, rtol=1e-5, atol=1e-5)
        assert (parse_of(scores_W1W, to_root=True)["one_root"] == 0).sum() == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_impossible_edges_have_no_weight_and_finite_gradients(make, draw, dtype):
    model, examples = spread(make(TreeHeadSettings(), extra_components=(AttentionMaps(),)), 100).to(dtype), draw(6, 4)
    batch = make_batch(examples, np.arange(6), tuple(model.components))
    context = model.encode(batch)
    weights_BSS = model.components[-1].maps(context)["encoder", 0][:, -1]
    real_BS = batch.source_mask_BS
    assert (weights_BSS[real_BS] == 0).any()
    torch.testing.assert_close(weights_BSS[real_BS].sum(-1), torch.ones(int(real_BS.sum()), dtype=dtype))
    model.loss(batch).objective().backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters())
