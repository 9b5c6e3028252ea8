"""Differences between systems, against plain loops over sacreBLEU's scores."""

import math
import statistics

import numpy as np
import pytest
from evaluation.test_metrics import count, draw, own_bleu

from nmtcore.config.training import EvaluationSettings
from nmtcore.evaluation.compare import (
    MEANING,
    SAMPLES,
    SEED,
    SampledScores,
    Term,
    bootstrap_weights,
    compare_systems,
    contrast_of,
    correlation_of,
    difference_of,
    expected_agreement,
    holm,
    sampled_scores,
    student_quantile,
    student_tail,
    values_without_sentences,
)
from nmtcore.tables.cells import slope_weights

EVALUATION = EvaluationSettings(tokenize="none")


def sampled_runs(scores, mean_A, *, twice=0.0):
    """Make scores of runs and of samples with this mean; of the mean's variance, `twice` is noise of single runs."""
    runs, wave_A = len(scores), np.resize([1.0, -1.0], len(mean_A))
    own_RA = np.zeros((runs, len(mean_A)))
    if runs > 1:
        own_RA[0] = wave_A / np.std(wave_A, ddof=1) * math.sqrt(twice * runs * (runs - 1) / 2)
        own_RA[1] = -own_RA[0]
    return SampledScores(scores, mean_A + own_RA)


def systems(sentences=12, seeds=2):
    """Two systems: the translations of each seed, and the common references."""
    _, references = draw(sentences)
    texts = {
        name: [draw(sentences, seed=1, wrong=wrong + seed / 40)[0] for seed in range(seeds)]
        for name, wrong in (("base", 0.4), ("better", 0.2))
    }
    return texts, references


def compare(texts, references):
    """Compare all systems with the first one."""
    counted = {name: [count("bleu", lines, references, EVALUATION) for lines in seeds] for name, seeds in texts.items()}
    baseline, *others = counted
    return compare_systems(counted, dict.fromkeys(others, baseline))


def test_a_comparison_is_that_of_a_plain_loop():
    texts, references = systems()
    (result,) = compare(texts, references).values()
    scores = {name: [own_bleu(lines, references, EVALUATION) for lines in seeds] for name, seeds in texts.items()}
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
        name: sampled_scores([count("bleu", lines, references, EVALUATION) for lines in seeds], weights_AB).mean_A
        for name, seeds in texts.items()
    }
    assert sampled["better"] - sampled["base"] == pytest.approx(differences, abs=1e-9)
    compared = difference_of(*(sampled_runs(scores[name], sampled[name]) for name in ("better", "base")))
    assert compared.sentence_error == pytest.approx(statistics.stdev(differences))
    assert compared.delta == pytest.approx(result.delta)


@pytest.mark.parametrize(("twice", "spread"), [((0, 0), 1), ((0.3, 0.07), 1), ((0.9, 0.2), 1), ((0.9, 0.2), 2)])
def test_errors_of_seeds_and_sentences_add_up(twice, spread):
    """The formulas of a comparison of means with unequal variances (Welch), written out; no noise counts twice."""
    scores, baseline = [30.0, 31.0, 33.0], [29.0, 29.5]
    sampled_A, baseline_sampled_A = spread * np.array([2.0, 3.0, 5.0, 6.0]), spread * np.array([1.0, 2.5, 2.5, 5.0])
    own = sampled_runs(scores, sampled_A, twice=twice[0])
    other = sampled_runs(baseline, baseline_sampled_A, twice=twice[1])
    assert (own.counted_twice, other.counted_twice) == pytest.approx(twice)
    result = difference_of(own, other)
    first, second = statistics.variance(scores) / 3, statistics.variance(baseline) / 2
    sentences = spread**2 * statistics.variance([1.0, 0.5, 2.5, 1.0])
    squared = max(first + second + sentences - sum(twice), first + second, sentences)
    assert (squared in (first + second, sentences)) == (sum(twice) > 1), "it is never below either of the two"
    error = math.sqrt(squared)
    assert result.delta == pytest.approx(94 / 3 - 29.25)
    assert result.seed_error**2 == pytest.approx(first + second)
    assert result.sentence_error**2 == pytest.approx(sentences)
    assert result.degrees == pytest.approx(error**4 / (first**2 / 2 + second**2 / 1))
    low, high = result.interval
    assert (low + high) / 2 == pytest.approx(result.delta)
    assert 2 * student_tail((high - result.delta) / error, result.degrees) == pytest.approx(0.05)
    assert result.error == pytest.approx(error)
    assert result.with_training_noise
    if not any(twice):  # t(.975) and t(.80) of 8.25 degrees of freedom
        assert result.detectable == pytest.approx((2.2939 + 0.8872) * error, rel=1e-3)
    assert result.p == pytest.approx(2 * student_tail(result.delta / error, result.degrees))


def test_holms_correction():
    corrected = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert corrected == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})
    assert holm({"a": 0.5, "b": None, "c": 0.6}) == {"a": 1.0, "b": None, "c": 1.0}
    assert holm({}) == {}
    assert holm({"a": None}) == {"a": None}


@pytest.mark.parametrize("seeds", [([30.0], [29.0, 28.0]), ([30.0, 31.0], [29.0])])
def test_with_one_seed_the_interval_is_the_bootstraps_alone(seeds):
    sampled_A = np.array([1.0, 2.0, 3.0])
    result = difference_of(sampled_runs(seeds[0], sampled_A, twice=0.5), sampled_runs(seeds[1], np.zeros(3), twice=0.5))
    assert (result.seed_error, result.degrees, result.with_training_noise) == (None, None, False)
    assert result.p == pytest.approx(math.erfc(abs(result.delta) / math.sqrt(2)))
    assert result.detectable == pytest.approx(1.959964 + 0.841621, abs=1e-5)
    assert result.interval[1] - result.delta == pytest.approx(1.959964 * 1.0, abs=1e-5)


def test_a_single_sentence_has_no_p_value():
    texts = {"base": [["a b c d"]], "other": [["a b c x"]]}
    result = compare(texts, ["a b c d"])["other"]
    assert result.delta < 0
    assert (result.error, result.p) == (0, None)


def own_noise(scores):
    """The variance over samples of what each run has more than the mean of all, times n / (n - 1), by a plain loop."""
    means = [statistics.fmean(sample) for sample in zip(*scores, strict=True)]
    own = [statistics.variance(s - mean for s, mean in zip(run, means, strict=True)) for run in scores]
    return statistics.fmean(own) * len(scores) / (len(scores) - 1)


def test_noise_that_is_counted_twice_is_that_of_single_runs_on_samples():
    texts, references = systems(seeds=3)
    weights_AB = bootstrap_weights(12)[:30]
    rows = [np.repeat(np.arange(12), weights_B.astype(int)) for weights_B in weights_AB]
    seeds = [count("bleu", lines, references, EVALUATION) for lines in texts["base"]]
    scores = [[seed.rows(rows_B).corpus_score() for rows_B in rows] for seed in seeds]
    sampled = sampled_scores(seeds, weights_AB)
    assert sampled.sampled_RA == pytest.approx(np.array(scores))
    assert sampled.mean_A == pytest.approx(np.mean(scores, axis=0))
    assert sampled.counted_twice == pytest.approx(own_noise(scores) / 3)
    assert sampled.counted_twice > 0
    assert sampled_scores(seeds[:1], weights_AB).counted_twice == 0
    assert sampled_scores(seeds[:1] * 3, weights_AB).counted_twice == pytest.approx(0)


@pytest.mark.parametrize("degrees", [1.0, 2.7, 33.3])
def test_probabilities_are_sums_of_the_density(degrees):
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    step = 1e-3
    total = sum(scale * (1 + ((i + 0.5) * step) ** 2 / degrees) ** (-(degrees + 1) / 2) * step for i in range(2500))
    assert 1 - student_tail(2.5, degrees) == pytest.approx(0.5 + total, abs=1e-6)
    assert student_quantile(0.5 + total, degrees) == pytest.approx(2.5, abs=1e-4)


def test_agreement_is_as_published():
    assert expected_agreement("bleu", 1) == pytest.approx(64, abs=0.05)
    assert expected_agreement("bleu", -1) == expected_agreement("bleu", 1)
    assert expected_agreement("chrf", 1) == pytest.approx(93 / (1 + 2.718281828**-1.114), rel=1e-6)
    assert expected_agreement("bleu", 50) == pytest.approx(88.33)
    assert expected_agreement("ribes", 1) is None
    without_difference = [expected_agreement(metric, 0) for metric in ("bleu", "chrf")]
    assert "at {:.0f} % (BLEU) and {:.1f} % (chrF)".format(*without_difference) in MEANING


def test_slopes_and_correlations_are_numpys():
    rng = np.random.default_rng(3)
    places, scores_SR = [1.0, 2.0, 4.0, 8.0], rng.standard_normal((4, 3))
    terms = [
        Term(weight, values_without_sentences(list(scores_R)), place)
        for weight, place, scores_R in zip(slope_weights(places), places, scores_SR, strict=True)
    ]
    assert contrast_of(terms).delta == pytest.approx(np.polyfit(places, scores_SR.mean(axis=1), 1)[0])
    pairs = rng.standard_normal((9, 2))
    result = correlation_of([pairs.tolist()])
    assert result.delta == pytest.approx(np.corrcoef(pairs.T)[0, 1])
    assert (result.p < 0.05) == (not result.interval[0] <= 0 <= result.interval[1])
    assert correlation_of([pairs[:2].tolist(), pairs[2:4].tolist()]) is None  # two degrees of freedom


def test_a_system_in_both_gains_is_one_term_of_twice_the_weight():
    rng = np.random.default_rng(3)
    first, middle, last = (sampled_runs([1.0, 2.0, 4.0], rng.standard_normal(200), twice=0.1) for _ in range(3))
    ends = [Term(1, first, "first", "test"), Term(1, last, "last", "test")]
    twice = [Term(-1, middle, "middle", "test")] * 2
    once = Term(-2, middle, "middle", "test")
    assert contrast_of([*ends, *twice]).interval == pytest.approx(contrast_of([*ends, once]).interval)


def test_a_runs_noise_on_two_parts_of_a_test_counts_together():
    """Each seed is 2 points better on both parts: what it gains more on one of them has no noise of seeds."""
    on_long, on_others = [10.0, 12.0, 14.0], [20.0, 22.0, 24.0]
    terms = [
        Term(weight, values_without_sentences(scores), "system", part)
        for weight, scores, part in ((1, on_long, "long"), (-1, on_others, "others"))
    ]
    together = contrast_of(terms)
    assert (together.delta, together.seed_error) == (-10, 0)
    apart = contrast_of([term._replace(runs=term.test) for term in terms])
    assert apart.seed_error == pytest.approx(math.sqrt(2 * 4 / 3))
