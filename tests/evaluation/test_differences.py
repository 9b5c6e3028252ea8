"""Differences between systems, against plain loops over sacreBLEU's scores."""

import math
import statistics

import numpy as np
import pytest
from evaluation.test_sentence_statistics import draw, own_bleu

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.evaluation.bootstrap import SAMPLES, SEED, bootstrap_weights
from nmtcore.evaluation.differences import compare_systems, difference
from nmtcore.evaluation.sentence_statistics import bleu_statistics

EVALUATION = EvaluationSettings(tokenize="none")


def systems(sentences=12, seeds=2):
    """Two systems: the translations of each seed, and the common references."""
    _, references = draw(sentences)
    texts = {
        name: [draw(sentences, seed=1, wrong=wrong + seed / 40)[0] for seed in range(seeds)]
        for name, wrong in (("base", 0.4), ("better", 0.2))
    }
    return texts, references


def compare(texts, references, **options):
    counted = {
        name: [bleu_statistics(lines, references, EVALUATION) for lines in seeds] for name, seeds in texts.items()
    }
    return compare_systems(counted, **options)


def test_a_comparison_is_that_of_a_plain_loop():
    texts, references = systems()
    results = compare(texts, references, baseline="base")
    scores = {name: [own_bleu(lines, references, EVALUATION) for lines in seeds] for name, seeds in texts.items()}
    assert {name: result.scores for name, result in results.items()} == scores
    assert results["base"].difference is None
    rng, differences = np.random.default_rng(SEED), []
    for rows in rng.choice(12, size=(SAMPLES, 12), replace=True)[:60]:
        sample = [references[row] for row in rows]
        means = {
            name: statistics.fmean(own_bleu([lines[row] for row in rows], sample, EVALUATION) for lines in seeds)
            for name, seeds in texts.items()
        }
        differences.append(means["better"] - means["base"])
    weights_AB = bootstrap_weights(12)[:60]
    sampled = {
        name: np.mean(
            [bleu_statistics(lines, references, EVALUATION).weighted_sums(weights_AB).bleu_by_row() for lines in seeds],
            axis=0,
        )
        for name, seeds in texts.items()
    }
    assert sampled["better"] - sampled["base"] == pytest.approx(differences, abs=1e-9)
    compared = difference(
        scores["better"], scores["base"], sampled_A=sampled["better"], baseline_sampled_A=sampled["base"]
    )
    assert compared.sentence_error == pytest.approx(statistics.stdev(differences))
    assert compared.delta == results["better"].difference.delta


def test_errors_of_seeds_and_sentences_add_up():
    """The formulas of a comparison of means with unequal variances (Welch), written out."""
    scores, baseline = [30.0, 31.0, 33.0], [29.0, 29.5]
    sampled_A, baseline_sampled_A = np.array([2.0, 3.0, 5.0, 6.0]), np.array([1.0, 2.5, 2.5, 5.0])
    result = difference(scores, baseline, sampled_A=sampled_A, baseline_sampled_A=baseline_sampled_A)
    first, second = statistics.variance(scores) / 3, statistics.variance(baseline) / 2
    sentences = statistics.variance([1.0, 0.5, 2.5, 1.0])
    error = math.sqrt(first + second + sentences)
    assert result.delta == pytest.approx(94 / 3 - 29.25)
    assert result.seed_error**2 == pytest.approx(first + second)
    assert result.sentence_error**2 == pytest.approx(sentences)
    assert result.degrees == pytest.approx(error**4 / (first**2 / 2 + second**2 / 1))
    low, high = result.interval
    assert (low + high) / 2 == pytest.approx(result.delta)
    assert high - result.delta == pytest.approx(2.2939 * error, rel=1e-3)  # t of 8.25 degrees of freedom
    assert result.bootstrap_interval == pytest.approx(np.quantile([1.0, 0.5, 2.5, 1.0], [0.025, 0.975]))


@pytest.mark.parametrize("seeds", [([30.0], [29.0, 28.0]), ([30.0, 31.0], [29.0]), ([30.0], [29.0])])
def test_with_one_seed_the_interval_is_the_bootstraps_alone(seeds):
    sampled_A = np.array([1.0, 2.0, 3.0])
    result = difference(*seeds, sampled_A=sampled_A, baseline_sampled_A=np.zeros(3))
    assert (result.seed_error, result.degrees) == (None, None)
    assert result.interval[1] - result.delta == pytest.approx(1.959964 * 1.0, abs=1e-5)


def test_equal_systems_do_not_differ():
    texts, references = systems()
    result = compare({"base": texts["base"], "same": texts["base"]}, references, baseline="base")["same"].difference
    assert (result.delta, result.sentence_error, result.bootstrap_interval) == (0, 0, (0, 0))
    low, high = result.interval
    assert low == -high
    assert high > 0  # the seeds differ
    one = {name: [texts["base"][0]] * 2 for name in ("base", "same")}
    assert compare(one, references, baseline="base")["same"].difference.interval == (0, 0)


def test_without_a_baseline_systems_are_only_scored():
    texts, references = systems()
    for options in ({"baseline": None}, {"baseline": "base"}):
        some = texts if options["baseline"] is None else {"base": texts["base"]}
        results = compare(some, references, **options)
        assert all(result.difference is None and len(result.scores) == 2 for result in results.values())
