"""How often intervals contain the true difference, and how often equal systems seem to differ, in simulations.

A score is the mean of scores of sentences, so that the bootstrap's variance is known without drawing samples. The noise
of a seed moves all sentences of a run alike or, in addition, each sentence by itself; the latter enters both errors.
"""

import math

import numpy as np
import pytest

from nmtcore.evaluation.differences import SampledScores, difference, difference_of_differences
from nmtcore.evaluation.student import student_quantile

SIMULATIONS, SENTENCES = 2000, 80
DELTA = 0.4
SPREAD, SENTENCE_SPREAD = 0.3, 0.3 * math.sqrt(SENTENCES)
"""Standard deviations over seeds and, of differences, over sentences; both errors of a mean are near .3."""


def simulate(seeds, baseline_seeds, *, delta, noise, simulations=SIMULATIONS):
    """Simulate comparisons: the scores of all seeds, and the bootstrap's error of the difference."""
    rng = np.random.default_rng(seeds)
    scores, per_sentence = [], []
    for runs, mean in ((seeds, delta), (baseline_seeds, 0.0)):
        seed_AR = mean + SPREAD * rng.standard_normal((simulations, runs))
        size = (simulations, runs, SENTENCES)
        noise_ARB = noise * rng.standard_normal(size) if noise else np.zeros(size)
        scores.append(seed_AR + noise_ARB.mean(axis=2))
        per_sentence.append(noise_ARB.mean(axis=1))
    shared_AB = SENTENCE_SPREAD * rng.standard_normal((simulations, SENTENCES))
    scores[0] += shared_AB.mean(axis=1, keepdims=True)
    errors_A = (shared_AB + per_sentence[0] - per_sentence[1]).std(axis=1) / math.sqrt(SENTENCES)
    return *scores, errors_A


def margins(scores_AR, baseline_AR, errors_A):
    """Compute the intervals' half widths for all simulations at once, from the formulas."""
    parts = [(values.var(axis=1, ddof=1) / values.shape[1], values.shape[1]) for values in (scores_AR, baseline_AR)]
    variances_A = parts[0][0] + parts[1][0] + errors_A**2
    degrees_A = variances_A**2 / sum(part_A**2 / (n - 1) for part_A, n in parts)
    grid = np.geomspace(1, 1e6, 400)
    quantiles_A = np.interp(np.log(degrees_A), np.log(grid), [student_quantile(0.975, d) for d in grid])
    return quantiles_A * np.sqrt(variances_A)


def coverage(seeds, baseline_seeds, **options):
    scores_AR, baseline_AR, errors_A = simulate(seeds, baseline_seeds, **options)
    deltas_A = scores_AR.mean(axis=1) - baseline_AR.mean(axis=1)
    return float(np.mean(np.abs(deltas_A - options["delta"]) <= margins(scores_AR, baseline_AR, errors_A)))


def test_the_simulated_intervals_are_those_of_comparisons():
    scores_AR, baseline_AR, errors_A = simulate(4, 3, delta=DELTA, noise=0.5, simulations=30)
    widths_A = margins(scores_AR, baseline_AR, errors_A)
    for scores, baseline, error, width in zip(scores_AR, baseline_AR, errors_A, widths_A, strict=True):
        sampled_A = np.array([error, -error]) / math.sqrt(2)
        result = difference(scores.tolist(), baseline.tolist(), sampled_A=sampled_A, baseline_sampled_A=np.zeros(2))
        assert (result.interval[1] - result.interval[0]) / 2 == pytest.approx(width, rel=1e-3)
        significant = result.p < 0.05
        assert significant == (not result.interval[0] <= 0 <= result.interval[1])


@pytest.mark.parametrize("seeds", [(3, 3), (5, 5), (10, 10), (3, 5)])
def test_intervals_contain_the_true_difference(seeds):
    """94 to 97 % of the time, or more with noise of each sentence, which is counted twice.

    The same draws without a true difference are false alarms as often as intervals do not contain it.
    """
    without = coverage(*seeds, delta=DELTA, noise=0.0)
    with_noise = coverage(*seeds, delta=DELTA, noise=SENTENCE_SPREAD)
    print(f"{seeds}: {100 * without:.1f} % without sentence-level noise of seeds, {100 * with_noise:.1f} % with it")
    assert 0.94 <= without <= 0.97
    assert with_noise >= 0.94
    if seeds == (3, 5):
        assert coverage(*seeds, delta=0.0, noise=0.0) == without


GAIN, OTHER_GAIN = 1.2, 0.7


def covered(seeds, *, same_test, correlation=0.8, delta, simulations=400):
    """Simulate claims about two gains; return the share of intervals that contain the true difference of the gains.

    Each gain has noise of seeds, and of sentences; on the same test the sentences' noise of both gains is correlated.
    """
    rng, hits = np.random.default_rng([seeds, same_test, delta > 0]), 0
    for _ in range(simulations):
        noise_B = SENTENCE_SPREAD * rng.standard_normal((2, SENTENCES))
        if same_test:
            noise_B[1] = correlation * noise_B[0] + math.sqrt(1 - correlation**2) * noise_B[1]
        weights = [rng.multinomial(SENTENCES, np.full(SENTENCES, 1 / SENTENCES), size=100) for _ in range(2)]
        if same_test:
            weights[1] = weights[0]
        four = []
        for position, mean in enumerate((OTHER_GAIN + delta, 0.0, OTHER_GAIN, 0.0)):
            own_B = noise_B[position // 2] * (position % 2 == 0)
            scores = mean + own_B.mean() + SPREAD * rng.standard_normal(seeds)
            sampled_A = scores.mean() - own_B.mean() + weights[position // 2] @ own_B / SENTENCES
            four.append(SampledScores(scores.tolist(), sampled_A))
        low, high = difference_of_differences(*four[:2], minus_system=four[2], minus_baseline=four[3]).interval
        hits += low <= delta <= high
    return hits / simulations


@pytest.mark.parametrize("same_test", [True, False])
@pytest.mark.parametrize("seeds", [3, 5])
def test_intervals_of_two_gains_contain_their_true_difference(seeds, same_test):
    """92 to 98 % of the time (400 simulations have an error of 1.1 %), and at most 7 % false alarms."""
    share = covered(seeds, same_test=same_test, delta=GAIN - OTHER_GAIN)
    false_alarms = 1 - covered(seeds, same_test=same_test, delta=0.0)
    print(f"{seeds} seeds, same test: {same_test}: {100 * share:.1f} %, {100 * false_alarms:.1f} % false alarms")
    assert 0.92 <= share <= 0.98
    assert false_alarms <= 0.07
