"""Marginals of trees against the enumeration of all trees, finite differences and the sums that must be one."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import tree_distribution
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from nmtcore.model.matrix_tree import (
    LARGEST_SPREAD,
    _Inverse,
    _LinearElimination,
    _LogElimination,
    _Scores,
    tree_marginals,
)

ROOTS = ("one", "many")
ELIMINATIONS = (_LinearElimination, _LogElimination)
ROUTES = (_Inverse, *ELIMINATIONS)


def uniform(generator: np.random.Generator, *shape: int, most: float) -> torch.Tensor:
    return torch.from_numpy(generator.uniform(-most, most, shape))


def all_words(scores_BSS: torch.Tensor) -> torch.Tensor:
    return torch.ones(scores_BSS.shape[:2], dtype=torch.bool)


def by_route(route, scores_BSS, roots):
    """Send all sentences of a batch down one route."""
    return route(_Scores.normalise(scores_BSS.double(), all_words(scores_BSS), roots))


def mutual_pairs(scores_BSS: torch.Tensor, margin: float) -> torch.Tensor:
    """Let words 0 and 1, 2 and 3... want each other as heads, by a margin over all other scores."""
    scores_BSS = scores_BSS.clone()
    best = scores_BSS.max() + margin
    for word in range(0, scores_BSS.size(1) - 1, 2):
        scores_BSS[:, word, word + 1] = scores_BSS[:, word + 1, word] = best
    return scores_BSS


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("roots", ROOTS)
@pytest.mark.parametrize("most", [1.0, 5.0])
@pytest.mark.parametrize("words", range(1, 6))
def test_both_routes_equal_the_enumeration_of_all_trees(words, most, roots, route):
    scores_BSS = uniform(np.random.default_rng(words), 3, words, words, most=most)
    result = by_route(route, scores_BSS, roots)
    for row, scores_SS in enumerate(scores_BSS.numpy()):
        marginals_SS, log_partition = tree_distribution(scores_SS, roots=roots)
        np.testing.assert_allclose(result.marginals_BSS[row], marginals_SS, atol=1e-11)
        assert result.partition_B[row].item() == pytest.approx(log_partition, abs=1e-10)


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


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("roots", ROOTS)
@pytest.mark.parametrize("words", range(1, 6))
def test_the_derivative_of_both_routes_equals_differences_of_the_enumeration(words, roots, route):
    generator = np.random.default_rng(words)
    scores_SS, along_SS = (generator.uniform(-3, 3, (words, words)) for _ in range(2))
    step = 1e-5
    (higher_SS, _), (lower_SS, _) = (
        tree_distribution(scores_SS + sign * step * along_SS, roots=roots) for sign in (1, -1)
    )
    scores_BSS = torch.from_numpy(scores_SS)[None]
    derivative_BSS = by_route(route, scores_BSS, roots).derivative(torch.from_numpy(along_SS)[None])
    np.testing.assert_allclose(derivative_BSS[0], (higher_SS - lower_SS) / (2 * step), atol=1e-8)


@pytest.mark.parametrize("roots", ROOTS)
@pytest.mark.parametrize("margin", [0.0, 8.0, 60.0])
def test_gradients_of_marginals_and_of_the_log_partition_equal_finite_differences(margin, roots):
    scores_BSS = mutual_pairs(uniform(np.random.default_rng(1), 3, 5, 5, most=2), margin).requires_grad_()
    nodes_BS = torch.tensor([[True] * 5, [True, False, True, True, False], [False] * 5])
    assert torch.autograd.gradcheck(
        lambda scores: tree_marginals(scores, nodes_BS, roots=roots), scores_BSS, atol=1e-5, fast_mode=False
    )


def preferring_pairs(scores_BSS: torch.Tensor, margin: float) -> torch.Tensor:
    """Let words 0 and 1, 2 and 3... prefer each other as heads, by a margin over the best other head of each."""
    scores_BSS = scores_BSS.clone()
    for word in range(0, scores_BSS.size(1) - 1, 2):
        for head, dependent in ((word, word + 1), (word + 1, word)):
            scores_BSS[:, head, dependent] = -torch.inf
            scores_BSS[:, head, dependent] = scores_BSS[:, :, dependent].amax(1) + margin
    return scores_BSS


@pytest.mark.parametrize("roots", ROOTS)
@pytest.mark.parametrize("margin", [None, 0.0, 2.5, 5.0])
@pytest.mark.parametrize("words", [5, 20, 40, 100])
def test_the_inverse_alone_gives_sums_of_one_for_scores_within_30_and_mutual_margins_up_to_5(words, margin, roots):
    scores_BSS = uniform(np.random.default_rng(words), 16, words, words, most=30)
    scores_BSS = scores_BSS if margin is None else preferring_pairs(scores_BSS, margin)
    inverse = by_route(_Inverse, scores_BSS, roots)
    sums_BS = inverse.marginals_BSS.sum(1)
    # Among few words with such scores, some prefer each other by chance, by larger margins.
    np.testing.assert_allclose(sums_BS if words >= 20 else sums_BS[inverse.trusted_B], 1, atol=1e-9)
    assert inverse.trusted_B.float().mean() > 0.6


@pytest.mark.parametrize("roots", ROOTS)
@pytest.mark.parametrize(
    ("words", "margin", "most", "route"),
    [
        *((40, 60, 5, route) for route in ELIMINATIONS),
        *((100, 0, 240, route) for route in ELIMINATIONS),
        (40, 2000, 5, _LogElimination),
        (100, 0, 1000, _LogElimination),
        (256, 0, 1000, _LogElimination),
    ],
)
def test_the_elimination_gives_sums_of_one_for_any_scores(words, margin, most, route, roots):
    scores_BSS = uniform(np.random.default_rng(2), 2, words, words, most=most)
    scores_BSS = mutual_pairs(scores_BSS, margin) if margin else scores_BSS
    elimination = by_route(route, scores_BSS, roots)
    np.testing.assert_allclose(elimination.marginals_BSS.sum(1), 1, atol=1e-9)
    assert (elimination.marginals_BSS >= 0).all()
    if roots == "one":
        np.testing.assert_allclose(elimination.marginals_BSS.diagonal(dim1=1, dim2=2).sum(1), 1, atol=1e-9)
    along_BSS = uniform(np.random.default_rng(3), 2, words, words, most=1)
    derivative_BSS = elimination.derivative(along_BSS)
    # A word's marginals sum to one whatever its scores.
    np.testing.assert_allclose(derivative_BSS.sum(1), 0, atol=1e-7)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 12), st.floats(0, 40), st.sampled_from(ROOTS), st.integers(0, 2**32 - 1))
def test_the_routes_agree_if_the_inverse_is_trusted(words, margin, roots, seed):
    scores_BSS = mutual_pairs(uniform(np.random.default_rng(seed), 4, words, words, most=5), margin - 10)
    inverse, elimination = (by_route(route, scores_BSS, roots) for route in (_Inverse, _LinearElimination))
    trusted_B = inverse.trusted_B
    np.testing.assert_allclose(inverse.marginals_BSS[trusted_B], elimination.marginals_BSS[trusted_B], atol=1e-6)
    np.testing.assert_allclose(inverse.partition_B[trusted_B], elimination.partition_B[trusted_B], atol=1e-6)
    along_BSS = uniform(np.random.default_rng(seed), 4, words, words, most=1)
    derivatives = inverse.derivative(along_BSS)[trusted_B], elimination.derivative(along_BSS)[trusted_B]
    np.testing.assert_allclose(*derivatives, atol=1e-4)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 12), st.floats(-200, 300), st.floats(0, 60), st.sampled_from(ROOTS), st.integers(0, 2**32 - 1))
def test_both_eliminations_agree_up_to_the_largest_spread(words, margin, most, roots, seed):
    scores_BSS = mutual_pairs(uniform(np.random.default_rng(seed), 4, words, words, most=most), margin)
    assert _Scores.normalise(scores_BSS, all_words(scores_BSS), roots).spread_B.max() <= LARGEST_SPREAD
    linear, log = (by_route(route, scores_BSS, roots) for route in ELIMINATIONS)
    np.testing.assert_allclose(linear.marginals_BSS, log.marginals_BSS, atol=1e-11)
    np.testing.assert_allclose(linear.partition_B, log.partition_B, rtol=1e-12, atol=1e-11)
    along_BSS = uniform(np.random.default_rng(seed), 4, words, words, most=1)
    np.testing.assert_allclose(linear.derivative(along_BSS), log.derivative(along_BSS), atol=1e-10)


@pytest.fixture
def eliminated(monkeypatch):
    """Record the spreads of the sentences that each elimination gets."""
    spreads = {}

    def record(route):
        plain = route.__init__

        def recorded(self, scores):
            spreads.setdefault(route, []).extend(scores.spread_B.tolist())
            plain(self, scores)

        monkeypatch.setattr(route, "__init__", recorded)

    for route in ELIMINATIONS:
        record(route)
    return spreads


@pytest.mark.parametrize("roots", ROOTS)
def test_each_sentence_of_a_batch_takes_its_own_route_at_the_edge(eliminated, roots):
    margins = torch.linspace(0, 24, 25)
    base_SS = uniform(np.random.default_rng(4), 6, 6, most=1)
    scores_BSS = torch.cat([mutual_pairs(base_SS[None], margin) for margin in margins.tolist()])
    marginals_BSS, _ = tree_marginals(scores_BSS, all_words(scores_BSS), roots=roots)
    count = len(eliminated.pop(_LinearElimination))
    assert not eliminated
    assert 0 < count < len(margins)
    trusted_B = by_route(_Inverse, scores_BSS, roots).trusted_B
    assert trusted_B.tolist() == [True] * (len(margins) - count) + [False] * count
    exact_BSS = by_route(_LogElimination, scores_BSS, roots).marginals_BSS
    np.testing.assert_allclose(marginals_BSS, exact_BSS, atol=1e-7)
    np.testing.assert_allclose(marginals_BSS[~trusted_B], exact_BSS[~trusted_B], atol=1e-13)


@pytest.mark.parametrize("roots", ROOTS)
def test_logarithms_are_for_sentences_above_the_largest_spread(eliminated, roots):
    """Words 0 and 1 want each other as heads; word 1 is by far the worst head of word 2."""
    spreads = [LARGEST_SPREAD + difference for difference in (-1.0, 0.0, 0.001, 100.0)]
    scores_BSS = torch.zeros(4, 3, 3, dtype=torch.float64)
    scores_BSS[:, 0, 1] = scores_BSS[:, 1, 0] = 50
    scores_BSS[:, 1, 2] = -torch.tensor(spreads, dtype=torch.float64)
    marginals_BSS, partition_B = tree_marginals(scores_BSS, all_words(scores_BSS), roots=roots)
    assert eliminated == {_LinearElimination: spreads[:2], _LogElimination: spreads[2:]}
    for row, scores_SS in enumerate(scores_BSS.numpy()):
        marginals_SS, log_partition = tree_distribution(scores_SS, roots=roots)
        np.testing.assert_allclose(marginals_BSS[row], marginals_SS, atol=1e-13)
        assert partition_B[row].item() == pytest.approx(log_partition, abs=1e-12)


@pytest.mark.parametrize("roots", ROOTS)
@pytest.mark.parametrize("margin", [0.0, 60.0])
def test_sums_that_are_right_by_chance_do_not_make_the_inverse_trusted(margin, roots):
    """With many roots and a margin of 60 the inverse's sums can be one while its marginals are wrong by .3."""
    generator = torch.Generator().manual_seed(0)
    scores_BSS = mutual_pairs(torch.randn(256, 5, 5, dtype=torch.float64, generator=generator), margin)
    marginals_BSS, _ = tree_marginals(scores_BSS, all_words(scores_BSS), roots=roots)
    exact_BSS = by_route(_LogElimination, scores_BSS, roots).marginals_BSS
    np.testing.assert_allclose(marginals_BSS, exact_BSS, atol=1e-6)


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


@pytest.mark.parametrize("margin", [0.0, 60.0, 2000.0])
def test_no_operation_inside_is_recorded_and_inference_mode_gives_the_same(margin):
    scores_BSS = mutual_pairs(uniform(np.random.default_rng(8), 3, 7, 7, most=2), margin).requires_grad_()
    marginals_BSS, partition_B = tree_marginals(scores_BSS, all_words(scores_BSS))
    assert marginals_BSS.grad_fn is partition_B.grad_fn
    assert [type(node).__name__ for node, _ in marginals_BSS.grad_fn.next_functions if node] == ["AccumulateGrad"]
    with torch.inference_mode():
        plain_BSS, plain_B = tree_marginals(scores_BSS, all_words(scores_BSS))
    assert torch.equal(plain_BSS, marginals_BSS)
    assert torch.equal(plain_B, partition_B)


class LargestTensor(TorchDispatchMode):
    """Records the number of elements of the largest tensor that an operation returns."""

    elements = 0

    def __torch_dispatch__(self, operation, types, arguments=(), keywords=None):
        result = operation(*arguments, **(keywords or {}))
        tensors = [x for x in tree_leaves(result) if isinstance(x, torch.Tensor)]
        self.elements = max([self.elements, *(x.untyped_storage().nbytes() // x.element_size() for x in tensors)])
        return result


@pytest.mark.parametrize("margin", [0.0, 60.0, 2000.0])
def test_memory_is_quadratic_forward_and_backward(margin):
    words = 24
    scores_BSS = mutual_pairs(uniform(np.random.default_rng(9), 2, words, words, most=2), margin).requires_grad_()
    with LargestTensor() as largest:
        marginals_BSS, _ = tree_marginals(scores_BSS, all_words(scores_BSS))
        (marginals_BSS**2).sum().backward()
    assert largest.elements == 2 * words * (words + (margin > 0))
    context = marginals_BSS.grad_fn
    routes = [context.inverse, *(elimination for _, elimination in context.eliminations)]
    kept = sum(x.numel() for route in routes for x in vars(route).values() if isinstance(x, torch.Tensor))
    assert kept < 15 * scores_BSS.numel()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_results_have_the_precision_of_the_scores_but_at_least_single(dtype):
    scores_BSS = torch.randn(2, 4, 4).to(dtype).requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        marginals_BSS, partition_B = tree_marginals(scores_BSS, all_words(scores_BSS))
    assert {marginals_BSS.dtype, partition_B.dtype} == {torch.float64 if dtype == torch.float64 else torch.float32}
    (marginals_BSS[0, 0].sum() + partition_B.sum()).backward()
    assert scores_BSS.grad.dtype == dtype
    assert scores_BSS.grad.isfinite().all()
