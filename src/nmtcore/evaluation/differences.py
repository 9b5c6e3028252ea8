"""Differences between systems, with intervals that count the noise of seeds and of test sentences together."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import NamedTuple, TypeVar

import numpy as np

from nmtcore.evaluation.bootstrap import bootstrap_weights
from nmtcore.evaluation.sentence_statistics import SentenceStatistics
from nmtcore.evaluation.student import student_quantile, student_tail

LEVEL = 0.95
"""Confidence level of intervals."""

POWER = 0.8
"""Probability with which the smallest detectable difference is detected."""

FALSE_ALARMS = 45
"""Percentage of simulated pairs of equal systems whose interval excludes 0, with one seed each: the standard deviation
over seeds is .5, which the interval leaves out, and that of the difference over samples of sentences .3."""

ONE_SEED = (
    f"leaves training noise out and excludes 0 wrongly in {FALSE_ALARMS} of 100 simulated pairs of equal systems (seed "
    "noise .5, sentence noise .3)"
)
"""What "an interval from one seed" does; for notes wherever there is one."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A difference between the mean scores of a system and a baseline over their seeds, or between two of these."""

    delta: float
    """The system's mean minus the baseline's, and without the second difference, if there is one."""
    stdev: float | None
    """Standard deviation of the system's scores over seeds; None with one seed."""
    baseline_stdev: float | None
    """The same of the baseline."""
    seed_error: float | None
    """Standard error of `delta` from the seeds' variance; None if a system has one seed, so that it is unknown."""
    sentence_error: float
    """Standard deviation, over paired bootstrap samples of sentences, of the difference of the seeds' means."""
    error: float
    """Standard error of `delta`; its square is seed_error^2 + sentence_error^2, less what is counted twice in this sum
    (`SampledScores.counted_twice`), and never below either of the two. With an unknown seed error, the sentences'."""
    degrees: float | None
    """Degrees of freedom of the t distribution for interval and p-value; None: infinitely many, the normal one."""
    interval: tuple[float, float]
    """`delta` -+ t(97.5 %) * error."""
    bootstrap_interval: tuple[float, float]
    """Percentiles of the bootstrap samples alone."""
    detectable: float
    """The smallest difference that a comparison with this error detects with a probability of 80 %."""
    p: float | None
    """Probability of a difference at least this large, in either direction, between systems that are equal in truth;
    None if no error can be estimated, as with a single sentence."""

    @property
    def with_training_noise(self) -> bool:
        """Whether interval and p-value include the variance over seeds; else they are the bootstrap's alone."""
        return self.seed_error is not None


class SampledScores(NamedTuple):
    """The scores of a system's runs, one per seed, on some sentences and on bootstrap samples of them."""

    scores: Sequence[float]
    """Corpus score of each run."""
    sampled_RA: np.ndarray
    """Its score on each sample."""

    @property
    def mean_A(self) -> np.ndarray:
        """The mean over runs on each sample."""
        return self.sampled_RA.mean(axis=0)

    @property
    def counted_twice(self) -> float:
        """The part of the mean's variance that is in that over runs and in that over samples; 0 of a single run.

        This is noise of each run that differs from sentence to sentence: v / n, where v is the variance over samples of
        (a run's score - the runs' mean), times n / (n - 1).
        """
        runs = len(self.scores)
        own_RA = self.sampled_RA - self.mean_A
        return float(np.var(own_RA, axis=1, ddof=1).mean()) / (runs - 1) if runs > 1 else 0.0

    def minus(self, other: "SampledScores") -> "SampledScores":
        """Subtract the scores of the same runs on other sentences of the same samples: seeds and samples are paired."""
        scores = [own - others for own, others in zip(self.scores, other.scores, strict=True)]
        return SampledScores(scores, self.sampled_RA - other.sampled_RA)


def sampled_scores(seeds: Sequence[SentenceStatistics], weights_AB: np.ndarray) -> SampledScores:
    """Score a system, with the statistics of each seed, on all sentences and on samples (`bootstrap_weights`)."""
    sampled = [seed.weighted_sums(weights_AB).scores_by_row() for seed in seeds]
    return SampledScores([seed.corpus_score() for seed in seeds], np.array(sampled))


def _combined(terms: Sequence[tuple[int, SampledScores]]) -> Difference:
    """Add the mean scores of systems, each with a factor; the first two are the system and the baseline.

    The bootstrap's variance counts as known, so the degrees of freedom come from the seeds (Welch-Satterthwaite, with
    the whole variance above). A system that occurs several times, as the same object, counts once, with the sum of its
    factors.
    """
    joined = {id(own): (sum(factor for factor, other in terms if other is own), own) for _, own in terms}
    summed = [(factor, own) for factor, own in joined.values() if factor]
    delta = sum((factor * fmean(own.scores) for factor, own in summed), 0.0)
    differences_A = sum((factor * own.mean_A for factor, own in summed), np.zeros_like(terms[0][1].mean_A))
    sentence_error = float(np.std(differences_A, ddof=1))
    variances = {key: variance(own.scores) if len(own.scores) > 1 else None for key, (_, own) in joined.items()}
    seed_error, error, degrees = None, sentence_error, math.inf
    if all(variances[id(own)] is not None for _, own in summed):
        parts = [(factor**2 * variances[id(own)] / len(own.scores), len(own.scores)) for factor, own in summed]
        seed_error = math.sqrt(sum(part for part, _ in parts))
        twice = sum(factor**2 * own.counted_twice for factor, own in summed)
        error = math.sqrt(max(seed_error**2 + sentence_error**2 - twice, seed_error**2, sentence_error**2))
        below = sum(part**2 / (seeds - 1) for part, seeds in parts)
        degrees = error**4 / below if below else math.inf
    quantile = student_quantile(0.5 + LEVEL / 2, degrees)
    low, high = np.quantile(differences_A, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2]).tolist()
    p_without_error = None if delta else 1.0
    stdevs = [None if (v := variances[id(own)]) is None else math.sqrt(v) for _, own in terms[:2]]
    return Difference(
        delta=delta,
        stdev=stdevs[0],
        baseline_stdev=stdevs[1],
        seed_error=seed_error,
        sentence_error=sentence_error,
        error=error,
        degrees=None if math.isinf(degrees) else degrees,
        interval=(delta - quantile * error, delta + quantile * error),
        bootstrap_interval=(low, high),
        detectable=(quantile + student_quantile(POWER, degrees)) * error,
        p=2 * student_tail(abs(delta) / error, degrees) if error else p_without_error,
    )


def difference_of(system: SampledScores, baseline: SampledScores) -> Difference:
    """Compare a system with a baseline that has been scored on the same samples; their numbers of seeds may differ."""
    return _combined([(1, system), (-1, baseline)])


def difference_of_differences(
    system: SampledScores, baseline: SampledScores, *, minus_system: SampledScores, minus_baseline: SampledScores
) -> Difference:
    """Compare the difference between a system and a baseline with that between another system and another baseline.

    The variance over seeds is the sum of those of all means. The samples say how sentences vary together: scores on the
    same sentences must be of the same samples, those on others of samples that were drawn independently (`OTHER_SEED`).
    Scores that are given twice, as the same object, are known to be equal and count once: `minus_baseline` that is also
    `baseline` leaves a plain difference.
    """
    return _combined([(1, system), (-1, baseline), (-1, minus_system), (1, minus_baseline)])


def score_interval(system: SampledScores) -> tuple[float, float]:
    """Return the 95 % interval of a system's mean score, by the same variances as that of a difference."""
    nothing = SampledScores([0.0] * len(system.scores), np.zeros_like(system.sampled_RA))
    return difference_of(system, nothing).interval


def holm(p_values: Mapping[Key, float | None]) -> dict[Key, float | None]:
    """Correct the p-values of comparisons by Holm's method; None stays None and is not counted.

    A key is a comparison, however often it is shown.
    """
    ordered = sorted(((p, key) for key, p in p_values.items() if p is not None), key=lambda entry: entry[0])
    corrected: dict[Key, float | None] = dict.fromkeys(p_values)
    largest = 0.0
    for rank, (p, key) in enumerate(ordered):
        largest = max(largest, min(1.0, (len(ordered) - rank) * p))
        corrected[key] = largest
    return corrected


@dataclass(frozen=True, kw_only=True)
class SystemScores:
    """The scores of a system on some sentences, and its difference from the baseline."""

    scores: list[float]
    """One corpus score per seed."""
    difference: Difference | None
    """None for the baseline itself, and without a baseline."""


def compare_systems(
    systems: Mapping[str, Sequence[SentenceStatistics]], *, baseline: str | None
) -> dict[str, SystemScores]:
    """Score systems on the same sentences by one metric, and compare them with one of them by paired bootstrap samples.

    Args:
        systems: statistics of each system, one entry per seed.
        baseline: name of one of them; None: nothing is compared.
    """
    if baseline is None or len(systems) < 2:
        scores = {name: [seed.corpus_score() for seed in seeds] for name, seeds in systems.items()}
        return {name: SystemScores(scores=values, difference=None) for name, values in scores.items()}
    weights_AB = bootstrap_weights(len(systems[baseline][0]))
    sampled = {name: sampled_scores(seeds, weights_AB) for name, seeds in systems.items()}
    return {
        name: SystemScores(
            scores=own.scores, difference=None if name == baseline else difference_of(own, sampled[baseline])
        )
        for name, own in sampled.items()
    }
