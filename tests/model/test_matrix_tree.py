"""Marginals of trees against the enumeration of all trees, finite differences and the sums that must be one."""

import numpy as np
import pytest
import torch
from oracles import tree_distribution

from nmtcore.model.matrix_tree import tree_marginals

ROOTS = ("one", "many")


def uniform(generator: np.random.Generator, *shape: int, most: float) -> torch.Tensor:
    return torch.from_numpy(generator.uniform(-most, most, shape))


def all_words(scores_BSS: torch.Tensor) -> torch.Tensor:
    return torch.ones(scores_BSS.shape[:2], dtype=torch.bool)


def mutual_pairs(scores_BSS: torch.Tensor, margin: float) -> torch.Tensor:
    """Let words 0 and 1, 2 and 3... want each other as heads, by a margin over all other scores."""
    scores_BSS = scores_BSS.clone()
    best = scores_BSS.max() + margin
    for word in range(0, scores_BSS.size(1) - 1, 2):
        scores_BSS[:, word, word + 1] = scores_BSS[:, word + 1, word] = best
    return scores_BSS


@pytest.mark.parametrize("roots", ROOTS)
@pytest.mark.parametrize("margin", [0.0, 5.0, 10.0, 20.0, 60.0, 2000.0])
@pytest.mark.parametrize("words", [2, 3, 4, 5])
def test_mutual_pairs_of_every_margin_equal_the_enumeration(words, margin, roots):
    scores_BSS = mutual_pairs(uniform(np.random.default_rng(words), 4, words, words, most=3), margin)
    marginals_BSS, partition_B = tree_marginals(scores_BSS, all_words(scores_BSS), roots=roots)
    for row, scores_SS in enumerate(scores_BSS.numpy()):
        marginals_SS, log_partition = tree_distribution(scores_SS, roots=roots)
        np.testing.assert_allclose(marginals_BSS[row], marginals_SS, atol=1e-6)
        assert partition_B[row].item() == pytest.approx(log_partition, abs=1e-6)


@pytest.mark.parametrize("roots", ROOTS)
@pytest.mark.parametrize("most", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("words", range(1, 6))
def test_any_scores_equal_the_enumeration(words, most, roots):
    scores_BSS = uniform(np.random.default_rng(words), 3, words, words, most=most)
    marginals_BSS, partition_B = tree_marginals(scores_BSS, all_words(scores_BSS), roots=roots)
    for row, scores_SS in enumerate(scores_BSS.numpy()):
        marginals_SS, log_partition = tree_distribution(scores_SS, roots=roots)
        np.testing.assert_allclose(marginals_BSS[row], marginals_SS, atol=1e-8)
        assert partition_B[row].item() == pytest.approx(log_partition, abs=1e-8)


@pytest.mark.parametrize("roots", ROOTS)
@pytest.mark.parametrize("margin", [0.0, 8.0, 60.0, 600.0])
def test_gradients_of_marginals_and_of_the_log_partition_equal_finite_differences(margin, roots):
    scores_BSS = mutual_pairs(uniform(np.random.default_rng(1), 3, 5, 5, most=2), margin).requires_grad_()
    nodes_BS = torch.tensor([[True] * 5, [True, False, True, True, False], [False] * 5])
    assert torch.autograd.gradcheck(
        lambda scores: tree_marginals(scores, nodes_BS, roots=roots), scores_BSS, atol=1e-5, fast_mode=False
    )


@pytest.mark.parametrize("roots", ROOTS)
@pytest.mark.parametrize(("words", "margin", "most"), [(40, 60, 5), (100, 0, 240), (40, 2000, 5), (256, 0, 1000)])
def test_any_scores_of_long_sentences_give_sums_of_one(words, margin, most, roots):
    scores_BSS = uniform(np.random.default_rng(2), 2, words, words, most=most)
    scores_BSS = (mutual_pairs(scores_BSS, margin) if margin else scores_BSS).requires_grad_()
    marginals_BSS, _ = tree_marginals(scores_BSS, all_words(scores_BSS), roots=roots)
    np.testing.assert_allclose(marginals_BSS.detach().sum(1), 1, atol=1e-8)
    assert (marginals_BSS > -1e-8).all()
    if roots == "one":
        np.testing.assert_allclose(marginals_BSS.detach().diagonal(dim1=1, dim2=2).sum(1), 1, atol=1e-8)
    along_BSS = uniform(np.random.default_rng(3), 2, words, words, most=1)
    (gradient_BSS,) = torch.autograd.grad(marginals_BSS, scores_BSS, along_BSS)
    # A word's marginals sum to one whatever its scores.
    np.testing.assert_allclose(gradient_BSS.sum(1), 0, atol=1e-6)


@pytest.mark.parametrize("roots", ROOTS)
def test_sentences_of_all_margins_in_one_batch_equal_the_enumeration(roots):
    """With many roots and a margin of 60 the inverse's sums can be one while its marginals are wrong by .3."""
    base_BSS = uniform(np.random.default_rng(4), 20, 5, 5, most=3)
    margins = (*np.linspace(0, 24, 13), 60.0, 499.0, 501.0)
    scores_BSS = torch.cat([mutual_pairs(base_BSS, margin) for margin in margins])
    marginals_BSS, _ = tree_marginals(scores_BSS, all_words(scores_BSS), roots=roots)
    for row, scores_SS in enumerate(scores_BSS.numpy()):
        np.testing.assert_allclose(marginals_BSS[row], tree_distribution(scores_SS, roots=roots)[0], atol=1e-6)


@pytest.mark.parametrize("margin", [0.0, 60.0])
@pytest.mark.parametrize("roots", ROOTS)
def test_a_batch_of_one_equals_a_batch_of_many_with_gaps_and_padding(roots, margin):
    generator = np.random.default_rng(5)
    nodes_BS = torch.from_numpy(generator.random((6, 9)) < 0.7)
    nodes_BS[2] = False
    scores_BSS = mutual_pairs(uniform(generator, 6, 9, 9, most=3), margin)
    scores_BSS[~(nodes_BS.unsqueeze(1) & nodes_BS.unsqueeze(2))] = float("nan")
    marginals_BSS, partition_B = tree_marginals(scores_BSS, nodes_BS, roots=roots)
    for row, nodes_S in enumerate(nodes_BS):
        alone_SS = scores_BSS[row][nodes_S][:, nodes_S]
        marginals_1SS, partition_1 = tree_marginals(alone_SS[None], all_words(alone_SS[None]), roots=roots)
        np.testing.assert_allclose(marginals_BSS[row][nodes_S][:, nodes_S], marginals_1SS[0], atol=1e-9)
        assert partition_B[row].item() == pytest.approx(partition_1.item(), abs=1e-9)
    outside_BSS = ~(nodes_BS.unsqueeze(1) & nodes_BS.unsqueeze(2))
    assert not marginals_BSS[outside_BSS].any()


def test_a_sentence_without_words_or_of_one_word_or_of_1000_words():
    nothing_BSS = torch.zeros(2, 0, 0)
    assert tree_marginals(nothing_BSS, all_words(nothing_BSS))[1].tolist() == [0, 0]
    one_BSS = torch.tensor([[[2.5]]])
    marginals_BSS, partition_B = tree_marginals(one_BSS, all_words(one_BSS))
    assert marginals_BSS.item() == 1
    assert partition_B.item() == 2.5
    long_BSS = uniform(np.random.default_rng(6), 1, 1000, 1000, most=3).float()
    marginals_BSS, _ = tree_marginals(long_BSS, all_words(long_BSS))
    np.testing.assert_allclose(marginals_BSS.sum(1), 1, atol=1e-5)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), float("-inf")])
def test_scores_that_are_not_finite_are_a_sentence(wrong):
    scores_BSS = torch.zeros(3, 4, 4)
    scores_BSS[1, 2, 0] = wrong
    with pytest.raises(ValueError, match="sentence 1 of the batch has scores of trees that are infinite or not numb"):
        tree_marginals(scores_BSS, all_words(scores_BSS))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_results_have_the_precision_of_the_scores_but_at_least_single(dtype):
    scores_BSS = torch.randn(2, 4, 4).to(dtype).requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        marginals_BSS, partition_B = tree_marginals(scores_BSS, all_words(scores_BSS))
    assert {marginals_BSS.dtype, partition_B.dtype} == {torch.float64 if dtype == torch.float64 else torch.float32}
    (marginals_BSS[0, 0].sum() + partition_B.sum()).backward()
    assert scores_BSS.grad.dtype == dtype
    assert scores_BSS.grad.isfinite().all()
