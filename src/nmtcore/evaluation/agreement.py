"""The share of human judges who can be expected to agree with a difference in a metric (Kocmi et al. 2024)."""

import math

_CURVES = {"bleu": (88.33, 0.966), "chrf": (93.0, 1.114)}
"""By metric: the largest share, and how fast it is approached. Half of it is the share without any difference."""

MEANING = (
    "percentage of human judges who can be expected to agree with the order of the two (Kocmi et al. 2024). The "
    "published curves begin below 50 %, at 44 % (BLEU) and 46.5 % (chrF) without a difference: up to 50 %, the order "
    "says nothing about the judges."
)
"""What the percentage means, for notes below tables."""


def expected_agreement(metric: str, delta: float) -> float | None:
    """Return the percentage of pairs of systems that judges rank as a difference of this size in corpus scores does.

    None for a metric for which it is unknown.
    """
    if metric not in _CURVES:
        return None
    largest, rate = _CURVES[metric]
    return largest / (1 + math.exp(-rate * abs(delta)))
