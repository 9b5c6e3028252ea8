"""Differences between systems, against plain loops over sacreBLEU's scores."""

import math
import statistics

import numpy as np
import pytest
from evaluation.test_sentence_statistics import draw, own_bleu

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.evaluation.bootstrap import SAMPLES, SEED, bootstrap_weights
from nmtcore.evaluation.differences import SampledScores, compare_systems, difference, holm, score_interval
from nmtcore.evaluation.sentence_statistics import bleu_statistics, chrf_statistics
from nmtcore.evaluation.student import student_tail

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
            [
                bleu_statistics(lines, references, EVALUATION).weighted_sums(weights_AB).scores_by_row()
                for lines in seeds
            ],
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
    assert result.stdev == pytest.approx(statistics.stdev(scores))
    assert result.baseline_stdev == pytest.approx(statistics.stdev(baseline))
    assert result.error == pytest.approx(error)
    assert result.with_training_noise
    assert result.detectable == pytest.approx((2.2939 + 0.8872) * error, rel=1e-3)  # t(.80) of 8.25 degrees
    assert result.p == pytest.approx(2 * student_tail(result.delta / error, result.degrees))


@pytest.mark.parametrize(
    ("stdev", "seeds", "detectable"), [(0.3, 3, 1.13), (0.3, 5, 1.00), (0.3, 10, 0.92), (0.5, 3, 1.58), (0.5, 5, 1.26)]
)
def test_what_seeds_detect(stdev, seeds, detectable):
    """With a bootstrap error of .3; rounded figures that were computed elsewhere."""
    half = stdev * math.sqrt((seeds - 1) / (seeds - seeds % 2))
    scores = [30 + half, 30 - half] * (seeds // 2) + [30.0] * (seeds % 2)
    assert statistics.stdev(scores) == pytest.approx(stdev)
    sampled_A = np.array([0.3, -0.3]) / math.sqrt(2)
    result = difference(scores, scores, sampled_A=sampled_A, baseline_sampled_A=np.zeros(2))
    assert result.detectable == pytest.approx(detectable, abs=0.011)
    assert result.p == 1


def test_holms_correction():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, None, 0.6]) == [1.0, None, 1.0]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []
    assert holm([None]) == [None]


def test_chrf_is_compared_in_the_same_way():
    texts, references = systems()
    counted = {
        name: [chrf_statistics(lines, references, EVALUATION) for lines in seeds] for name, seeds in texts.items()
    }
    compared = compare_systems(counted, baseline="base")["better"].difference
    weights_AB = bootstrap_weights(12)
    sampled = {
        name: np.mean([[seed.rows(np.repeat(np.arange(12), w.astype(int))).corpus_score() for w in weights_AB[:40]]
                       for seed in seeds], axis=0)
        for name, seeds in counted.items()
    }  # fmt: skip
    own = {
        name: np.mean([seed.weighted_sums(weights_AB[:40]).scores_by_row() for seed in seeds], axis=0)
        for name, seeds in counted.items()
    }
    assert own["better"] == pytest.approx(sampled["better"], rel=1e-12)
    whole = [np.mean([s.weighted_sums(weights_AB).scores_by_row() for s in counted[n]], axis=0) for n in counted]
    assert compared.sentence_error == pytest.approx(float(np.std(whole[1] - whole[0], ddof=1)))


@pytest.mark.parametrize("seeds", [([30.0], [29.0, 28.0]), ([30.0, 31.0], [29.0]), ([30.0], [29.0])])
def test_with_one_seed_the_interval_is_the_bootstraps_alone(seeds):
    sampled_A = np.array([1.0, 2.0, 3.0])
    result = difference(*seeds, sampled_A=sampled_A, baseline_sampled_A=np.zeros(3))
    assert (result.seed_error, result.degrees, result.with_training_noise) == (None, None, False)
    assert (result.stdev is None, result.baseline_stdev is None) == tuple(len(values) == 1 for values in seeds)
    assert result.p == pytest.approx(math.erfc(abs(result.delta) / math.sqrt(2)))
    assert result.detectable == pytest.approx(1.959964 + 0.841621, abs=1e-5)
    assert result.interval[1] - result.delta == pytest.approx(1.959964 * 1.0, abs=1e-5)


def test_equal_systems_do_not_differ():
    texts, references = systems()
    result = compare({"base": texts["base"], "same": texts["base"]}, references, baseline="base")["same"].difference
    assert (result.delta, result.sentence_error, result.bootstrap_interval) == (0, 0, (0, 0))
    low, high = result.interval
    assert low == -high
    assert high > 0  # the seeds differ
    assert result.p == 1
    one = {name: [texts["base"][0]] * 2 for name in ("base", "same")}
    assert compare(one, references, baseline="base")["same"].difference.interval == (0, 0)


def test_a_single_sentence_has_no_p_value():
    texts = {"base": [["a b c d"]], "other": [["a b c x"]]}
    result = compare(texts, ["a b c d"], baseline="base")["other"].difference
    assert result.delta < 0
    assert (result.error, result.p) == (0, None)


def test_without_a_baseline_systems_are_only_scored():
    texts, references = systems()
    for options in ({"baseline": None}, {"baseline": "base"}):
        some = texts if options["baseline"] is None else {"base": texts["base"]}
        results = compare(some, references, **options)
        assert all(result.difference is None and len(result.scores) == 2 for result in results.values())


def test_the_interval_of_a_score_joins_the_variances_of_seeds_and_samples():
    scores, sampled = [20.0, 22.0, 21.0], np.array([20.5, 21.5, 21.0, 22.0])
    seeds, samples = statistics.variance(scores) / 3, statistics.variance(sampled.tolist())
    degrees = (seeds + samples) ** 2 / (seeds**2 / 2)
    low, high = score_interval(SampledScores(scores, sampled))
    assert (low + high) / 2 == pytest.approx(21)
    half = (high - low) / 2
    assert 2 * student_tail(half / math.sqrt(seeds + samples), degrees) == pytest.approx(0.05)
