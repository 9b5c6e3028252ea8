"""Accuracy on contrastive pairs: counts, ties, groups of distances, and intervals against their definition."""

import math

import pytest

from nmtcore.evaluation.contrasts import (
    PairCounts,
    count_by_distance,
    count_by_phenomenon,
    wilson_interval,
)
from nmtcore.inference.schemas import ContrastScore


def score(right, wrong, phenomenon="number", distance=None, unknown=0):
    return ContrastScore(phenomenon, distance, right, wrong, 3, 4, unknown)


def test_only_the_more_probable_translation_counts():
    """Even if it has more tokens, so that its mean per token is lower."""
    counts = PairCounts.of([score(-1.0, -2.0), score(-2.0, -1.0), score(-1.5, -1.5, unknown=2), score(-1.0, -1.1)])
    assert counts == PairCounts(pairs=4, right=2, ties=1, unknown=1)
    assert counts.accuracy == 50


def test_groups_have_their_order():
    scores = [
        score(-1, -2, "b", 16), score(-1, -2, "a", 2), score(-2, -1, "b", 400), score(-1, -2, "b"),
        score(-1, -2, "a", 0), score(-2, -1, "a", 15),
    ]  # fmt: skip
    assert {name: own[:2] for name, own in count_by_phenomenon(scores).items()} == {"b": (3, 2), "a": (3, 2)}
    by_distance = {name: own[:2] for name, own in count_by_distance(scores).items()}
    assert list(by_distance.items()) == [("0", (1, 1)), ("2", (1, 1)), ("15", (1, 0)), (">15", (2, 1))]


def bound(successes, trials, z, *, low):
    """Search the proportion from which the observed one is z standard errors away (the definition of the interval)."""
    observed = successes / trials
    inside, outside = observed, 0.0 if low else 1.0
    for _ in range(200):
        middle = (inside + outside) / 2
        if abs(observed - middle) <= z * math.sqrt(middle * (1 - middle) / trials):
            inside = middle
        else:
            outside = middle
    return inside


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (0, 9), (3, 9), (7, 7), (50, 100), (989, 1000)])
def test_an_interval_has_all_proportions_that_are_near_enough(successes, trials):
    low, high = wilson_interval(successes, trials)
    z = 1.959963984540054
    assert low == pytest.approx(bound(successes, trials, z, low=True), abs=1e-9)
    assert high == pytest.approx(bound(successes, trials, z, low=False), abs=1e-9)
    assert 0 <= low <= successes / trials <= high <= 1
