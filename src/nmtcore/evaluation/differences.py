"""Differences between systems, with intervals that count the noise of seeds and of test sentences together."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance

import numpy as np

from nmtcore.evaluation.bootstrap import bootstrap_weights
from nmtcore.evaluation.sentence_statistics import BleuStatistics
from nmtcore.evaluation.student import student_quantile

LEVEL = 0.95
"""Confidence level of intervals."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A difference between the mean scores of a system and a baseline over their seeds."""

    delta: float
    """The system's mean minus the baseline's."""
    seed_error: float | None
    """Standard error of `delta` from the seeds' variance; None if a system has one seed, so that it is unknown."""
    sentence_error: float
    """Standard deviation, over paired bootstrap samples of sentences, of the difference of the seeds' means."""
    degrees: float | None
    """Degrees of freedom of the interval; None: infinitely many."""
    interval: tuple[float, float]
    """`delta` -+ t * sqrt(seed_error^2 + sentence_error^2); with an unknown seed error, the sentences' alone."""
    bootstrap_interval: tuple[float, float]
    """Percentiles of the bootstrap samples alone."""


def difference(
    scores: Sequence[float], baseline: Sequence[float], *, sampled_A: np.ndarray, baseline_sampled_A: np.ndarray
) -> Difference:
    """Compare a system with a baseline.

    The bootstrap's variance counts as known, so the degrees of freedom come from the seeds (Welch-Satterthwaite, with
    the whole variance above). Noise of seeds that differs from sentence to sentence enters both errors, which makes
    intervals a little too wide.

    Args:
        scores: the system's corpus score for each seed.
        baseline: the baseline's; the numbers of seeds may differ.
        sampled_A: the mean over the system's seeds on each bootstrap sample.
        baseline_sampled_A: the same of the baseline, on the same samples.
    """
    delta = fmean(scores) - fmean(baseline)
    differences_A = sampled_A - baseline_sampled_A
    sentence_error = float(np.std(differences_A, ddof=1))
    seed_error, degrees = None, math.inf
    if len(scores) > 1 and len(baseline) > 1:
        parts = [(variance(values) / len(values), len(values)) for values in (scores, baseline)]
        seed_error = math.sqrt(sum(part for part, _ in parts))
        below = sum(part**2 / (seeds - 1) for part, seeds in parts)
        degrees = (seed_error**2 + sentence_error**2) ** 2 / below if below else math.inf
    error = math.hypot(seed_error or 0.0, sentence_error)
    margin = student_quantile(0.5 + LEVEL / 2, degrees) * error
    low, high = np.quantile(differences_A, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2]).tolist()
    return Difference(
        delta=delta,
        seed_error=seed_error,
        sentence_error=sentence_error,
        degrees=None if math.isinf(degrees) else degrees,
        interval=(delta - margin, delta + margin),
        bootstrap_interval=(low, high),
    )


@dataclass(frozen=True, kw_only=True)
class SystemScores:
    """The scores of a system on some sentences, and its difference from the baseline."""

    scores: list[float]
    """One corpus score per seed."""
    difference: Difference | None
    """None for the baseline itself, and without a baseline."""


def compare_systems(
    systems: Mapping[str, Sequence[BleuStatistics]], *, baseline: str | None
) -> dict[str, SystemScores]:
    """Score systems on the same sentences by BLEU, and compare them with one of them by paired bootstrap samples.

    Args:
        systems: statistics of each system, one entry per seed.
        baseline: name of one of them; None: nothing is compared.
    """
    scores = {name: [seed.corpus_bleu() for seed in seeds] for name, seeds in systems.items()}
    if baseline is None or len(systems) < 2:
        return {name: SystemScores(scores=values, difference=None) for name, values in scores.items()}
    weights_AB = bootstrap_weights(len(systems[baseline][0]))
    sampled = {
        name: np.mean([seed.weighted_sums(weights_AB).bleu_by_row() for seed in seeds], axis=0)
        for name, seeds in systems.items()
    }

    def compared(name: str) -> Difference:
        samples = {"sampled_A": sampled[name], "baseline_sampled_A": sampled[baseline]}
        return difference(scores[name], scores[baseline], **samples)

    return {
        name: SystemScores(scores=values, difference=None if name == baseline else compared(name))
        for name, values in scores.items()
    }
