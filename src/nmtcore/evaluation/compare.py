"""Differences between systems: intervals that count the noise of seeds and of test sentences.

Shapes: A draws, B sentences, R runs.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist, fmean, variance
from typing import NamedTuple, TypeVar

import numpy as np

from nmtcore.evaluation.counts import SentenceCounts

SAMPLES = 1000
"""Bootstrap samples per comparison."""
SEED = 12345
"""Seed of all draws, sacreBLEU's own; comparisons on the same sentences therefore share their samples."""
LEVEL = 0.95
"""Confidence level of intervals."""
POWER = 0.8
"""Probability with which the smallest detectable difference is detected."""

FALSE_ALARMS = 45
"""Percentage of simulated pairs of equal systems whose interval excludes 0, with one seed each: the standard deviation
over seeds is .5, which the interval leaves out, and that of the difference over samples of sentences .3."""
ONE_SEED = (
    f"leaves training noise out, and in a simulation, {FALSE_ALARMS} of 100 pairs of equal systems seemed to differ by "
    "it (seed noise .5, sentence noise .3)"
)
"""What "an interval from one seed" does; for notes wherever there is one."""

_JUDGES = {"bleu": (88.33, 0.966), "chrf": (93.0, 1.114)}
"""By metric: the largest share of judges that agree, and how fast it is approached."""
MEANING = (
    "percentage of human judges who can be expected to agree with the order of the two (Kocmi et al. 2024). The "
    "published curves begin below 50 %, at 44 % (BLEU) and 46.5 % (chrF) without a difference: up to 50 %, the order "
    "says nothing about the judges."
)
"""What `expected_agreement` is, for notes below tables."""

NEARLY_NORMAL = 1e6
"""Degrees of freedom from which the normal distribution is used; its quantiles differ by 3 millionths."""
_STEPS_P = np.linspace(-4.2, 4.2, 841)
_PLACES_P = np.exp(np.pi / 2 * np.sinh(_STEPS_P))
_WEIGHTS_P = (_STEPS_P[1] - _STEPS_P[0]) * np.pi / 2 * np.cosh(_STEPS_P) * _PLACES_P
"""Points and weights of an integral from 0 to infinity: the trapezoidal rule after t = exp(pi / 2 sinh(u))."""

Key = TypeVar("Key", bound=Hashable)


def student_tail(t: float, degrees: float) -> float:
    """Return the probability of a value above `t`, which is not negative, of Student's t distribution.

    The density is integrated from `t` on, so that small probabilities are relatively exact, to 13 digits.
    """
    if degrees > NEARLY_NORMAL:
        return math.erfc(t / math.sqrt(2)) / 2
    return float(_WEIGHTS_P @ _student_density(t + _PLACES_P, degrees))


def student_quantile(probability: float, degrees: float) -> float:
    """Return the value below which a share `probability` (at least 0.5) of Student's t distribution lies.

    By Newton's method from the normal quantile: that is below the answer, where the steps cannot go too far.
    """
    t = NormalDist().inv_cdf(probability)
    step = 0.0 if degrees > NEARLY_NORMAL else 1.0
    while abs(step) > 1e-12 * (1 + t):
        step = (student_tail(t, degrees) - (1 - probability)) / float(_student_density(t, degrees))
        t += step
    return t


def _student_density(t: float | np.ndarray, degrees: float) -> np.ndarray:
    logarithm = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    return np.exp(logarithm - (degrees + 1) / 2 * np.log1p(t * t / degrees))


def bootstrap_weights(sentences: int, *, samples: int = SAMPLES, seed: int = SEED) -> np.ndarray:
    """Draw samples of as many sentences as there are, with replacement, as sacreBLEU does.

    Returns how often each sample has each sentence, (A, B).
    """
    random = np.random.default_rng(seed)
    weights_AB = np.empty((samples, sentences))
    # One sample at a time: the same draws as those of all samples at once, which need three times the memory.
    for weights_B in weights_AB:
        weights_B[:] = np.bincount(random.choice(sentences, size=sentences), minlength=sentences)
    return weights_AB


class SampledScores(NamedTuple):
    """The scores of a system's runs, one per seed (R), on some sentences and on bootstrap samples of them."""

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


def values_without_sentences(values: Sequence[float]) -> SampledScores:
    """Return numbers of runs that are not made of sentences, such as times, as scores: they have the noise of seeds."""
    return SampledScores(values, np.zeros((len(values), 2)))


def sampled_scores(seeds: Sequence[SentenceCounts], weights_AB: np.ndarray) -> SampledScores:
    """Score a system, with the counts of each seed, on all sentences and on samples (`bootstrap_weights`)."""
    return SampledScores(
        [seed.corpus_score() for seed in seeds], np.array([seed.sampled_scores(weights_AB) for seed in seeds])
    )


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A difference between mean scores over seeds, with its uncertainty."""

    delta: float
    """The system's mean minus the baseline's."""
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
    detectable: float
    """The smallest difference that a comparison with this error detects with a probability of 80 %."""
    p: float | None
    """Probability of a difference at least this large, in either direction, between systems that are equal in truth;
    None if no error can be estimated, as with a single sentence."""

    @property
    def with_training_noise(self) -> bool:
        """Whether interval and p-value include the variance over seeds; else they are the bootstrap's alone."""
        return self.seed_error is not None


def difference_of(system: SampledScores, baseline: SampledScores) -> Difference:
    """Compare a system with a baseline that has been scored on the same samples; their numbers of seeds may differ."""
    return contrast_of([Term(1, system, "system"), Term(-1, baseline, "baseline")])


class Term(NamedTuple):
    """A mean score in a weighted sum."""

    weight: float
    sampled: SampledScores
    runs: Hashable
    """Its runs: what the same runs score on several tests varies together over seeds."""
    test: Hashable = None
    """Its sentences: scores on the same ones have the same samples, others vary independently."""


def contrast_of(terms: Sequence[Term]) -> Difference:
    """Compare a weighted sum of mean scores with 0: a difference, a difference of differences, a slope.

    The variance over seeds is the sum of those of all runs (Welch-Satterthwaite; the bootstrap's variance counts as
    known, so it is above in the formula, not below). The samples say how the sentences of a test vary together.
    """
    delta = sum(term.weight * fmean(term.sampled.scores) for term in terms)
    tests: dict[Hashable, np.ndarray | float] = {}
    runs: dict[Hashable, list[Term]] = {}
    weights: dict[Hashable, float] = {}
    for term in terms:
        weights[term.runs, term.test] = weights.get((term.runs, term.test), 0.0) + term.weight
        tests[term.test] = tests.get(term.test, 0.0) + term.weight * term.sampled.mean_A
        runs.setdefault(term.runs, []).append(term)
    sentence_error = math.sqrt(sum(float(np.var(sum_A, ddof=1)) for sum_A in tests.values()))
    seed_error, error, degrees = None, sentence_error, math.inf
    if all(len(term.sampled.scores) > 1 for term in terms):
        variances = [(_seed_variance(of_runs), len(of_runs[0].sampled.scores)) for of_runs in runs.values()]
        seed_error = math.sqrt(sum(part for part, _ in variances))
        twice = sum(term.weight * weights[term.runs, term.test] * term.sampled.counted_twice for term in terms)
        error = math.sqrt(max(seed_error**2 + sentence_error**2 - twice, seed_error**2, sentence_error**2))
        below = sum(part**2 / (seeds - 1) for part, seeds in variances)
        degrees = error**4 / below if below else math.inf
    quantile = student_quantile(0.5 + LEVEL / 2, degrees)
    return Difference(
        delta=delta,
        seed_error=seed_error,
        sentence_error=sentence_error,
        error=error,
        degrees=None if math.isinf(degrees) else degrees,
        interval=(delta - quantile * error, delta + quantile * error),
        detectable=(quantile + student_quantile(POWER, degrees)) * error,
        p=1.0 if not delta else 2 * student_tail(abs(delta) / error, degrees) if error else None,
    )


def _seed_variance(of_runs: Sequence[Term]) -> float:
    """Return the variance, over the seeds of some runs, of the mean of their part of a weighted sum."""
    per_seed = [sum(parts) for parts in zip(*([t.weight * s for s in t.sampled.scores] for t in of_runs), strict=True)]
    return variance(per_seed) / len(per_seed)


def correlation_of(groups: Sequence[Sequence[tuple[float, float]]]) -> Difference | None:
    """Correlate pairs of numbers, a pair per system, within groups, such as the systems of a data set.

    The mean of each group is subtracted, so that only its systems are compared. The interval is Fisher's, with the
    degrees of freedom that the means leave, and p that of the t-test. Returns None if these are fewer than three, or
    one of the two never varies.
    """
    pairs_R2 = np.concatenate([np.array(group) - np.mean(group, axis=0) for group in groups])
    freedom = len(pairs_R2) - len(groups)
    lengths_2 = np.linalg.norm(pairs_R2, axis=0)
    if freedom < 3 or not lengths_2.all():
        return None
    correlation = float(np.clip(pairs_R2[:, 0] @ pairs_R2[:, 1] / lengths_2.prod(), -1, 1))
    width = NormalDist().inv_cdf(0.5 + LEVEL / 2) / math.sqrt(freedom - 2)
    place = math.atanh(min(max(correlation, -1 + 1e-12), 1 - 1e-12))
    error = math.sqrt((1 - correlation**2) / (freedom - 1))
    return Difference(
        delta=correlation,
        seed_error=error,
        sentence_error=0.0,
        error=error,
        degrees=freedom - 1,
        interval=(math.tanh(place - width), math.tanh(place + width)),
        detectable=math.tanh(width + NormalDist().inv_cdf(POWER) / math.sqrt(freedom - 2)),
        p=2 * student_tail(abs(correlation) / error, freedom - 1) if error else 0.0,
    )


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


def expected_agreement(metric: str, delta: float) -> float | None:
    """Return the percentage of judges who rank systems as a difference in corpus scores does; None if unknown."""
    if metric not in _JUDGES:
        return None
    largest, rate = _JUDGES[metric]
    return largest / (1 + math.exp(-rate * abs(delta)))


def compare_systems(
    systems: Mapping[str, Sequence[SentenceCounts]], compared_with: Mapping[str, str | None]
) -> dict[str, Difference]:
    """Compare systems, each with another one, by the counts of their seeds and by paired bootstrap samples.

    A system is left out if the other is missing or was tested on other sentences.
    """
    tests = {name: {seed.test for seed in seeds} for name, seeds in systems.items()}
    pairs = {
        name: other
        for name, other in compared_with.items()
        if {name, other} <= tests.keys() and len(tests[name] | tests[other]) == 1
    }
    weights = cache(bootstrap_weights)
    sampled = {
        name: sampled_scores(systems[name], weights(len(systems[name][0]))) for name in {*pairs, *pairs.values()}
    }
    return {name: difference_of(sampled[name], sampled[other]) for name, other in pairs.items()}
