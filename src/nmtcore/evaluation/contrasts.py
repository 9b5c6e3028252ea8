"""Accuracy on contrastive pairs: how often the right translation is more probable than the wrong one.

Follows LingEval97 (Sennrich 2017): the log-probabilities of whole sentences are compared, and the right translation
must be strictly more probable, so ties count as wrong.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import NormalDist
from typing import NamedTuple

from nmtcore.inference.schemas import ContrastScore

LONGEST_DISTANCE = 15
"""Longer distances are counted together, as in LingEval97."""

CONFIDENCE = 0.95


class PairCounts(NamedTuple):
    """Counts of contrastive pairs."""

    pairs: int
    right: int
    """Pairs whose right translation is more probable."""
    ties: int
    """Pairs whose translations are equally probable."""
    unknown: int
    """Pairs with subwords that the vocabulary lacks."""

    @classmethod
    def of(cls, scores: Sequence[ContrastScore]) -> "PairCounts":
        """Count scored pairs."""
        return cls(
            pairs=len(scores),
            right=sum(score.prefers_right for score in scores),
            ties=sum(score.ties for score in scores),
            unknown=sum(score.unknown > 0 for score in scores),
        )

    @property
    def accuracy(self) -> float:
        """The share of pairs whose right translation is more probable, in percent."""
        return 100 * self.right / self.pairs


def wilson_interval(successes: float, trials: int) -> tuple[float, float]:
    """Return the score interval of a proportion (Wilson 1927, "Probable Inference, the Law of Succession, and
    Statistical Inference"), which keeps its coverage near 0 and 1 and for few trials (Brown, Cai and DasGupta 2001).

    With n trials, p = successes / n and the normal quantile z, its bounds are
    (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n). Successes may be a mean of several counts.
    """
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share, weight = successes / trials, z * z / trials
    centre = (share + weight / 2) / (1 + weight)
    margin = z * math.sqrt(share * (1 - share) / trials + weight / (4 * trials)) / (1 + weight)
    low, high = centre - margin, centre + margin
    # At the ends of the scale one bound is exact, but for rounding errors.
    return 0.0 if successes == 0 else low, 1.0 if successes == trials else high


def count_by_phenomenon(scores: Iterable[ContrastScore]) -> dict[str, PairCounts]:
    """Count pairs by phenomenon, in the order of their first pairs."""
    return _count_by(scores, lambda score: score.phenomenon)


def count_by_distance(scores: Iterable[ContrastScore]) -> dict[str, PairCounts]:
    """Count pairs that have a distance, by the distance itself or ">15", the shortest first."""
    with_distance = sorted((score for score in scores if score.distance is not None), key=lambda score: score.distance)
    return _count_by(
        with_distance,
        lambda score: str(score.distance) if score.distance <= LONGEST_DISTANCE else f">{LONGEST_DISTANCE}",
    )


def _count_by(scores: Iterable[ContrastScore], key: Callable[[ContrastScore], str]) -> dict[str, PairCounts]:
    groups: dict[str, list[ContrastScore]] = {}
    for score in scores:
        groups.setdefault(key(score), []).append(score)
    return {name: PairCounts.of(group) for name, group in groups.items()}
