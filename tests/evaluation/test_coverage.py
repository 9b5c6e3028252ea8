"""How often intervals contain the true difference, and how often equal systems seem to differ, in simulations.

A score is the mean of scores of sentences, so that the bootstrap's variance is known without drawing samples. The noise
of a seed moves all sentences of a run alike or, in addition, each sentence by itself; the latter enters the variances
of both, and must count once.
"""

import math

import numpy as np
import pytest
from evaluation.test_differences import sampled_runs

from nmtcore.evaluation.compare import (
    FALSE_ALARMS,
    Term,
    contrast_of,
    correlation_of,
    difference_of,
    values_without_sentences,
)

SIMULATIONS, SENTENCES = 2000, 80
DELTA = 0.4
SPREAD, SENTENCE_SPREAD = 0.3, 0.3 * math.sqrt(SENTENCES)
"""Standard deviations over seeds and, of differences, over sentences; both errors of a mean are near .3."""


def simulate(seeds, baseline_seeds, *, delta, noise):
    """Simulate comparisons: scores of all seeds, the bootstrap's error of the difference, and what counts twice."""
    rng = np.random.default_rng(seeds)
    scores, per_sentence, twice = [], [], []
    for runs, mean in ((seeds, delta), (baseline_seeds, 0.0)):
        seed_AR = mean + SPREAD * rng.standard_normal((SIMULATIONS, runs))
        size = (SIMULATIONS, runs, SENTENCES)
        noise_ARB = noise * rng.standard_normal(size) if noise else np.zeros(size)
        scores.append(seed_AR + noise_ARB.mean(axis=2))
        per_sentence.append(noise_ARB.mean(axis=1))
        own_AR = (noise_ARB - noise_ARB.mean(axis=1, keepdims=True)).var(axis=2) / SENTENCES
        twice.append(own_AR.mean(axis=1) * runs / (runs - 1) / runs)
    shared_AB = SENTENCE_SPREAD * rng.standard_normal((SIMULATIONS, SENTENCES))
    scores[0] += shared_AB.mean(axis=1, keepdims=True)
    errors_A = (shared_AB + per_sentence[0] - per_sentence[1]).std(axis=1) / math.sqrt(SENTENCES)
    return scores, errors_A, twice


def coverage(seeds, baseline_seeds, *, delta, noise):
    """Return how often the interval of a comparison contains the true difference."""
    scores, errors_A, twice = simulate(seeds, baseline_seeds, delta=delta, noise=noise)
    contained = 0
    for run, error in enumerate(errors_A):
        means = [np.array([error, -error]) / math.sqrt(2), np.zeros(2)]
        pair = (sampled_runs(scores[k][run].tolist(), means[k], twice=twice[k][run]) for k in (0, 1))
        low, high = difference_of(*pair).interval
        contained += low <= delta <= high
    return contained / len(errors_A)


@pytest.mark.parametrize("seeds", [(3, 3), (10, 10), (3, 5)])
def test_intervals_contain_the_true_difference(seeds):
    """94 to 97 % of the time, or up to 97.8 % with noise of each sentence, twice as large as that of sentences.

    If that noise counted twice, it would be 98.0 to 98.5 %.
    """
    without, noisy = (coverage(*seeds, delta=DELTA, noise=noise) for noise in (0.0, 2 * SENTENCE_SPREAD))
    print(f"{seeds}: {100 * without:.1f} % without noise of each sentence, {100 * noisy:.1f} % with it")
    assert 0.94 <= without <= 0.97
    assert 0.94 <= noisy <= 0.978


def test_with_one_seed_equal_systems_often_seem_to_differ():
    """In 45 of 100 pairs if seeds have a noise of .5 and the difference's error over sentences is .3."""
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(2000):
        scores = 0.5 * rng.standard_normal(2)
        sentences = 0.3 * rng.standard_normal()
        sampled_A = np.array([0.3, -0.3]) / math.sqrt(2)
        pair = sampled_runs([scores[0] + sentences], sampled_A), sampled_runs([scores[1]], np.zeros(2))
        low, high = difference_of(*pair).interval
        alarms += not low <= 0 <= high
    assert 100 * alarms / 2000 == pytest.approx(FALSE_ALARMS, abs=1.5)


def share_covered(true, simulated):
    """Return how many of the intervals of `SIMULATIONS` simulated results contain the true value."""
    results = [simulated() for _ in range(SIMULATIONS)]
    return sum(result.interval[0] <= true <= result.interval[1] for result in results) / SIMULATIONS


@pytest.mark.parametrize("shared", [0.0, 3.0], ids=["own noise", "noise of the run"])
def test_intervals_contain_the_true_difference_of_differences(shared):
    """94 to 97 % of gains on one part of a test minus those on another, though a run is good or bad on both.

    If the two parts' noise counted as independent, it would be all but 100 % with noise of the run.
    """
    rng, seeds = np.random.default_rng(1), 5

    def simulated():
        terms = []
        for weight, runs in ((1, "system"), (-1, "baseline")):
            common = shared * SPREAD * rng.standard_normal(seeds)
            for sign, part in ((weight, "long"), (-weight, "other")):
                scores = DELTA * (runs == "system" and part == "long") + common + SPREAD * rng.standard_normal(seeds)
                terms.append(Term(sign, values_without_sentences(scores.tolist()), runs, part))
        return contrast_of(terms)

    assert 0.94 <= share_covered(DELTA, simulated) <= 0.97


@pytest.mark.parametrize(("true", "groups", "systems"), [(0.0, 4, 5), (0.6, 4, 5), (0.6, 1, 8)])
def test_intervals_contain_the_true_correlation(true, groups, systems):
    """94 to 96.5 %, whatever separates the groups."""
    rng = np.random.default_rng(systems)

    def simulated():
        drawn_GS2 = rng.standard_normal((groups, systems, 2))
        drawn_GS2[..., 1] = true * drawn_GS2[..., 0] + math.sqrt(1 - true**2) * drawn_GS2[..., 1]
        return correlation_of((drawn_GS2 + 9 * rng.standard_normal((groups, 1, 2))).tolist())

    assert 0.94 <= share_covered(true, simulated) <= 0.965
