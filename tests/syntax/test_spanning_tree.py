"""Maximum spanning trees, compared with all trees and with networkx."""

import itertools

import networkx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nmtcore.syntax.annotation import tree_fault
from nmtcore.syntax.spanning_tree import maximum_spanning_tree


def all_trees(n, single_root):
    for heads in itertools.product(range(n + 1), repeat=n):
        if tree_fault(heads) is None and (not single_root or heads.count(0) == min(n, 1)):
            yield heads


TREES = {(n, single): list(all_trees(n, single)) for n in range(6) for single in (True, False)}


def score_sum(scores, heads):
    return sum(scores[i, h] for i, h in enumerate(heads))


def check_tree(heads, single_root):
    assert tree_fault(heads) is None
    if single_root:
        assert heads.count(0) == min(len(heads), 1)


SCORE_DISTRIBUTIONS = {
    "normal": lambda random, shape: random.normal(size=shape),
    "large": lambda random, shape: 1e3 * random.normal(size=shape),
    "close": lambda random, shape: 1e3 + 1e-6 * random.integers(0, 50, size=shape),
    "ties": lambda random, shape: random.integers(0, 3, size=shape).astype(float),
    "roots": lambda random, shape: random.normal(size=shape) + 100 * (np.arange(shape[1]) == 0),
    "probabilities": lambda random, shape: np.log(random.dirichlet(np.full(shape[1], 0.1), size=shape[0]) + 1e-300),
}


@given(st.integers(0, 5), st.booleans(), st.sampled_from(sorted(SCORE_DISTRIBUTIONS)), st.integers(0, 2**32 - 1))
@example(5, True, "roots", 0)
@example(5, True, "close", 1)
def test_the_result_is_the_best_of_all_trees(n, single_root, distribution, seed):
    scores = SCORE_DISTRIBUTIONS[distribution](np.random.default_rng(seed), (n, n + 1))
    heads = maximum_spanning_tree(scores, single_root=single_root).tolist()
    check_tree(heads, single_root)
    best = max(score_sum(scores, tree) for tree in TREES[n, single_root])
    assert score_sum(scores, heads) == pytest.approx(best, rel=1e-14, abs=1e-10)


def networkx_best(scores):
    """Return the score sum of networkx's best tree."""
    graph = networkx.DiGraph()
    for i, row in enumerate(scores, start=1):
        for j, score in enumerate(row):
            if i != j:
                graph.add_edge(j, i, weight=score)
    tree = networkx.maximum_spanning_arborescence(graph, preserve_attrs=False)
    return sum(data["weight"] for _, _, data in tree.edges(data=True))


@pytest.mark.parametrize("n", [8, 13, 30])
def test_the_result_is_as_good_as_networkx(n):
    random = np.random.default_rng(n)
    for scores in (random.normal(size=(n, n + 1)), random.integers(0, 4, size=(n, n + 1)) * 1.0):
        heads = maximum_spanning_tree(scores, single_root=False).tolist()
        check_tree(heads, single_root=False)
        assert score_sum(scores, heads) == pytest.approx(networkx_best(scores), abs=1e-9)


def test_forbidden_edges_are_used_only_without_an_alternative():
    inf = np.inf
    scores = np.array([[-inf, 0, -inf], [-inf, 5, 0]])
    heads = maximum_spanning_tree(scores, single_root=False).tolist()
    assert heads == [0, 1]
    check_tree(maximum_spanning_tree(np.full((4, 5), -inf), single_root=True).tolist(), single_root=True)


@pytest.mark.parametrize("scores", [np.zeros((3, 3)), np.zeros(3), np.full((2, 3), np.nan), np.full((2, 3), np.inf)])
def test_invalid_scores_are_an_error(scores):
    with pytest.raises(ValueError):
        maximum_spanning_tree(scores, single_root=True)
