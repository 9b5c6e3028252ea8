"""Marginals of trees against the enumeration of all trees and finite differences; errors name the sentence."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from oracles import tree_distribution, tree_gradient

from nmtcore.config.components import HeadSelectionSettings, TreeHeadSettings
from nmtcore.model import trees
from nmtcore.model.batch import make_batch
from nmtcore.model.trees import DivergedTrees, TooLongForTrees, tree_marginals

SYSTEMS = [HeadSelectionSettings(), HeadSelectionSettings(annotations="one_set"), TreeHeadSettings()]


def uniform(seed: int, *shape: int, most: float) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).uniform(-most, most, shape))


def all_words(scores_BSS: torch.Tensor) -> torch.Tensor:
    return torch.ones(scores_BSS.shape[:2], dtype=torch.bool)


def mutual_pairs(scores_BSS: torch.Tensor, margin: float) -> torch.Tensor:
    """Let words 0 and 1, 2 and 3... want each other as heads, by a margin over all other scores."""
    scores_BSS, best = scores_BSS.clone(), scores_BSS.max() + margin
    for word in range(0, scores_BSS.size(1) - 1, 2):
        scores_BSS[:, word, word + 1] = scores_BSS[:, word + 1, word] = best
    return scores_BSS


def assert_equal_to_enumeration(scores_BSS: torch.Tensor) -> None:
    scores_BSS, along_BSS = scores_BSS.requires_grad_(), uniform(9, *scores_BSS.shape, most=1)
    marginals_BSS = tree_marginals(scores_BSS, all_words(scores_BSS))
    (gradient_BSS,) = torch.autograd.grad(marginals_BSS, scores_BSS, along_BSS)
    values = (tensor.detach().numpy() for tensor in (scores_BSS, along_BSS, marginals_BSS, gradient_BSS))
    for scores_SS, along_SS, marginals_SS, gradient_SS in zip(*values, strict=True):
        np.testing.assert_allclose(marginals_SS, tree_distribution(scores_SS)[0], atol=1e-7)
        np.testing.assert_allclose(gradient_SS, tree_gradient(scores_SS, along_SS), atol=1e-5)


@pytest.mark.parametrize("words", range(1, 6))
def test_any_scores_equal_the_enumeration(words):
    for most in (1.0, 30.0, 1000.0):
        assert_equal_to_enumeration(uniform(words, 3, words, words, most=most))


@pytest.mark.parametrize("words", range(2, 6))
def test_mutual_pairs_of_every_margin_equal_the_enumeration(words):
    margins = (*np.linspace(0, 24, 13), 60.0, 500.0, 2000.0)
    base_BSS = uniform(words, 20, words, words, most=3)
    assert_equal_to_enumeration(torch.cat([mutual_pairs(base_BSS, margin) for margin in margins]))


@pytest.mark.parametrize("margin", [0.0, 8.0, 60.0, 500.0, 2000.0])
def test_gradients_equal_finite_differences(margin):
    scores_BSS = uniform(1, 4, 5, 5, most=2)
    scores_BSS[:3] = mutual_pairs(scores_BSS[:3], margin)
    nodes_BS = torch.tensor([[True] * 5, [True, False, True, True, False], [False] * 5, [True] * 5])
    marginals = partial(tree_marginals, nodes_BS=nodes_BS)
    assert torch.autograd.gradcheck(marginals, scores_BSS.requires_grad_(), atol=1e-6, fast_mode=True)


@pytest.mark.parametrize(
    ("sentences", "words", "margin", "most"),
    [(2, 40, 60, 5), (2, 100, 0, 240), (2, 40, 2000, 5), (2, 150, 0, 1000), (40, 6, 10, 3)],
)
def test_marginals_sum_to_one(sentences, words, margin, most):
    scores_BSS = uniform(2, sentences, words, words, most=most)
    scores_BSS = (mutual_pairs(scores_BSS, margin) if margin else scores_BSS).requires_grad_()
    marginals_BSS = tree_marginals(scores_BSS, all_words(scores_BSS))
    np.testing.assert_allclose(marginals_BSS.detach().sum(1), 1, rtol=0, atol=2e-8)
    assert (marginals_BSS > -1e-8).all()
    np.testing.assert_allclose(marginals_BSS.detach().diagonal(dim1=1, dim2=2).sum(1), 1, atol=1e-8)
    (gradient_BSS,) = torch.autograd.grad(marginals_BSS, scores_BSS, uniform(3, *scores_BSS.shape, most=1))
    # A word's marginals sum to one whatever its scores.
    np.testing.assert_allclose(gradient_BSS.sum(1), 0, atol=1e-6)


@pytest.mark.parametrize("margin", [0.0, 60.0])
def test_a_batch_of_one_equals_a_batch_of_many_with_gaps_and_padding(margin, monkeypatch):
    nodes_BS = torch.from_numpy(np.random.default_rng(5).random((6, 9)) < 0.7)
    nodes_BS[2] = False
    outside_BSS = ~(nodes_BS.unsqueeze(1) & nodes_BS.unsqueeze(2))
    scores_BSS = mutual_pairs(uniform(5, 6, 9, 9, most=3), margin).masked_fill(outside_BSS, float("nan"))
    marginals_BSS = tree_marginals(scores_BSS, nodes_BS)
    for row, nodes_S in enumerate(nodes_BS):
        alone_1SS = scores_BSS[row : row + 1, nodes_S][:, :, nodes_S]
        if alone_1SS.numel():
            marginals_SS = tree_marginals(alone_1SS, all_words(alone_1SS))[0]
            np.testing.assert_allclose(marginals_BSS[row][nodes_S][:, nodes_S], marginals_SS, atol=1e-9)
    assert not marginals_BSS[outside_BSS].any()
    with torch.inference_mode():
        assert torch.equal(marginals_BSS, tree_marginals(scores_BSS * 1, nodes_BS * nodes_BS))
    monkeypatch.setattr(trees, "LONGEST_ELIMINATED", 9)  # the sentences are now eliminated in several groups
    np.testing.assert_allclose(marginals_BSS, tree_marginals(scores_BSS, nodes_BS), atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_marginals_have_the_precision_of_the_scores_but_at_least_single(dtype):
    scores_BSS = mutual_pairs(torch.randn(2, 4, 4), 60).to(dtype).requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        marginals_BSS = tree_marginals(scores_BSS, all_words(scores_BSS))
    assert marginals_BSS.dtype == torch.promote_types(dtype, torch.float32)
    assert torch.equal(marginals_BSS, tree_marginals(scores_BSS.double(), all_words(scores_BSS)).to(marginals_BSS))
    marginals_BSS[0, 0].sum().backward()
    assert scores_BSS.grad.dtype == dtype
    assert scores_BSS.grad.isfinite().all()


@pytest.mark.parametrize("value", [math.inf, math.nan])
@pytest.mark.parametrize("component", SYSTEMS)
def test_errors_name_the_sentence_by_its_id(make, draw, component, value, monkeypatch):
    model, examples = make(component), draw(3, 1)
    ids = examples.source.ids
    ids.values[ids.values == 7] = 8
    ids.values[ids.offsets[1]] = 7
    examples.id[:] = [10, 20, 30]
    batch = make_batch(examples, np.array([0, 2, 1]), tuple(model.components))
    monkeypatch.setattr(trees, "LARGEST_INVERSE", 0.0)
    monkeypatch.setattr(trees, "LONGEST_ELIMINATED", 1)
    with pytest.raises(TooLongForTrees) as error:
        model.encode(batch)
    longest = int(ids.lengths.argmax())
    assert error.value.row == [0, 2, 1].index(longest)
    assert str(error.value) == (
        f"The memory is too small for the trees of the source sentence with the id {examples.id[longest]}, which has "
        f"{ids.lengths.max()} subwords; with scores as far apart as its own, at most 1 are possible. Leave it out "
        "(training.batch.max_length), or cut it into parts."
    )
    with torch.no_grad():
        model.source_embedding.weight[7] = value
    with pytest.raises(DivergedTrees) as error:
        model.encode(batch)
    assert str(error.value) == (
        "The model cannot be used, since the scores of the trees of the source sentence with the id 20 are not finite: "
        "train it again."
    )
