"""Trees read off scores, against all trees that there are."""

import itertools

import numpy as np
import pytest

from nmtcore.inference.induced import induced_heads
from nmtcore.syntax.annotation import tree_fault


def best_by_hand(scores, heads):
    """Score every tree with one root; the root's score stands on the diagonal."""
    n, best = len(scores), (-np.inf, ())
    for tree in itertools.product(range(n + 1), repeat=n):
        if tree_fault(tree) is None and tree.count(0) == 1:
            total = 0.0
            for word, head in enumerate(tree):
                if head == 0:
                    total += scores[word, word]
                else:
                    total += scores[head - 1, word] if heads == "rows" else scores[word, head - 1]
            best = max(best, (total, tree))
    return best[1]


@pytest.mark.parametrize("heads", ["rows", "columns"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5])
def test_is_the_best_tree_with_one_root(n, heads):
    random = np.random.default_rng(n)
    for _ in range(20):
        scores = random.normal(size=(n, n))
        assert tuple(induced_heads(scores, heads=heads)) == best_by_hand(scores, heads)
