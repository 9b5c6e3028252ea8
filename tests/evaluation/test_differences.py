"""Differences between systems, against plain loops over sacreBLEU's scores."""

import math
import statistics

import numpy as np
import pytest
from evaluation.test_metrics import count, draw, own_bleu

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.evaluation.compare import (
    OTHER_SEED,
    SAMPLES,
    SEED,
    SampledScores,
    bootstrap_weights,
    compare_systems,
    difference_of,
    holm,
    sampled_scores,
    score_interval,
    signed_sum,
)
from nmtcore.evaluation.student import student_tail

EVALUATION = EvaluationSettings(tokenize="none")


def sampled_runs(scores, mean_A, *, twice=0.0):
    """Make scores of runs and of samples with this mean; of the mean's variance, `twice` is noise of single runs."""
    runs, wave_A = len(scores), np.resize([1.0, -1.0], len(mean_A))
    own_RA = np.zeros((runs, len(mean_A)))
    if runs > 1:
        own_RA[0] = wave_A / np.std(wave_A, ddof=1) * math.sqrt(twice * runs * (runs - 1) / 2)
        own_RA[1] = -own_RA[0]
    return SampledScores(scores, mean_A + own_RA)


def difference_of_gains(system, baseline, other_system, other_baseline):
    """Compare a gain with that of another system over another baseline."""
    return signed_sum((1, system), (-1, baseline), (-1, other_system), (1, other_baseline))


def systems(sentences=12, seeds=2):
    """Two systems: the translations of each seed, and the common references."""
    _, references = draw(sentences)
    texts = {
        name: [draw(sentences, seed=1, wrong=wrong + seed / 40)[0] for seed in range(seeds)]
        for name, wrong in (("base", 0.4), ("better", 0.2))
    }
    return texts, references


def compare(texts, references, **options):
    counted = {name: [count("bleu", lines, references, EVALUATION) for lines in seeds] for name, seeds in texts.items()}
    return compare_systems(counted, **options)


def test_a_comparison_is_that_of_a_plain_loop():
    texts, references = systems()
    results = compare(texts, references, baseline="base")
    scores = {name: [own_bleu(lines, references, EVALUATION) for lines in seeds] for name, seeds in texts.items()}
    assert {name: result.scores for name, result in results.items()} == {
        name: pytest.approx(own) for name, own in scores.items()
    }
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
            [count("bleu", lines, references, EVALUATION).sampled_scores(weights_AB) for lines in seeds],
            axis=0,
        )
        for name, seeds in texts.items()
    }
    assert sampled["better"] - sampled["base"] == pytest.approx(differences, abs=1e-9)
    compared = difference_of(*(sampled_runs(scores[name], sampled[name]) for name in ("better", "base")))
    assert compared.sentence_error == pytest.approx(statistics.stdev(differences))
    assert compared.delta == pytest.approx(results["better"].difference.delta)


@pytest.mark.parametrize(("twice", "spread"), [((0, 0), 1), ((0.3, 0.07), 1), ((0.9, 0.2), 1), ((0.9, 0.2), 2)])
def test_errors_of_seeds_and_sentences_add_up(twice, spread):
    """The formulas of a comparison of means with unequal variances (Welch), written out; no noise counts twice."""
    scores, baseline = [30.0, 31.0, 33.0], [29.0, 29.5]
    sampled_A, baseline_sampled_A = spread * np.array([2.0, 3.0, 5.0, 6.0]), spread * np.array([1.0, 2.5, 2.5, 5.0])
    own, other = (
        sampled_runs(scores, sampled_A, twice=twice[0]),
        sampled_runs(baseline, baseline_sampled_A, twice=twice[1]),
    )
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


@pytest.mark.parametrize(
    ("stdev", "seeds", "detectable"), [(0.3, 3, 1.13), (0.3, 5, 1.00), (0.3, 10, 0.92), (0.5, 3, 1.58), (0.5, 5, 1.26)]
)
def test_what_seeds_detect(stdev, seeds, detectable):
    """With a bootstrap error of .3; rounded figures that were computed elsewhere."""
    half = stdev * math.sqrt((seeds - 1) / (seeds - seeds % 2))
    scores = [30 + half, 30 - half] * (seeds // 2) + [30.0] * (seeds % 2)
    assert statistics.stdev(scores) == pytest.approx(stdev)
    sampled_A = np.array([0.3, -0.3]) / math.sqrt(2)
    result = difference_of(sampled_runs(scores, sampled_A), sampled_runs(scores, np.zeros(2)))
    assert result.detectable == pytest.approx(detectable, abs=0.011)
    assert result.p == 1


def test_holms_correction():
    corrected = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert corrected == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})
    assert holm({"a": 0.5, "b": None, "c": 0.6}) == {"a": 1.0, "b": None, "c": 1.0}
    assert holm({"a": 0.02}) == {"a": 0.02}
    assert holm({}) == {}
    assert holm({"a": None}) == {"a": None}


@pytest.mark.parametrize("seeds", [([30.0], [29.0, 28.0]), ([30.0, 31.0], [29.0]), ([30.0], [29.0])])
def test_with_one_seed_the_interval_is_the_bootstraps_alone(seeds):
    sampled_A = np.array([1.0, 2.0, 3.0])
    result = difference_of(sampled_runs(seeds[0], sampled_A, twice=0.5), sampled_runs(seeds[1], np.zeros(3), twice=0.5))
    assert (result.seed_error, result.degrees, result.with_training_noise) == (None, None, False)
    assert result.p == pytest.approx(math.erfc(abs(result.delta) / math.sqrt(2)))
    assert result.detectable == pytest.approx(1.959964 + 0.841621, abs=1e-5)
    assert result.interval[1] - result.delta == pytest.approx(1.959964 * 1.0, abs=1e-5)


def test_equal_systems_do_not_differ():
    texts, references = systems()
    result = compare({"base": texts["base"], "same": texts["base"]}, references, baseline="base")["same"].difference
    assert (result.delta, result.sentence_error) == (0, 0)
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
    scores, sampled, twice = [20.0, 22.0, 21.0], np.array([20.5, 21.5, 21.0, 22.0]), 0.2
    seeds, samples = statistics.variance(scores) / 3, statistics.variance(sampled.tolist())
    degrees = (seeds + samples - twice) ** 2 / (seeds**2 / 2)
    low, high = score_interval(sampled_runs(scores, sampled, twice=twice))
    assert (low + high) / 2 == pytest.approx(21)
    half = (high - low) / 2
    assert 2 * student_tail(half / math.sqrt(seeds + samples - twice), degrees) == pytest.approx(0.05)


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
    # Between two parts of a test, the noise is that of the runs' gaps.
    halves = [
        sampled_scores([seed.rows(half) for seed in seeds], weights_AB[:, half]) for half in np.arange(12).reshape(2, 6)
    ]
    gaps = halves[0].sampled_RA - halves[1].sampled_RA
    assert halves[0].minus(halves[1]).counted_twice == pytest.approx(own_noise(gaps.tolist()) / 3)


def four_systems(seed):
    """Statistics of two seeds of a system and a baseline on a test of its own: 30 sentences, of which some are bad."""
    _, references = draw(30, seed=seed)
    return [
        [count("bleu", draw(30, seed=seed + k, wrong=wrong)[0], references, EVALUATION) for k in (1, 2)]
        for wrong in (0.2, 0.4)
    ]


def own_samples(seeds, rows_AB):
    """Score samples of sentences one by one: the mean over seeds for each."""
    return np.array([statistics.fmean(own.rows(rows_B).corpus_score() for own in seeds) for rows_B in rows_AB])


@pytest.mark.parametrize("same_test", [True, False])
def test_a_difference_of_differences_is_that_of_a_plain_loop(same_test):
    """A bootstrap by brute force: new sentences are drawn for each test, or once if both have the same sentences."""
    first = four_systems(1)
    second = [four_systems(1)[0][::-1], four_systems(1)[1][:1] * 2] if same_test else four_systems(7)
    rows_AB = np.random.default_rng(SEED).choice(30, size=(SAMPLES, 30))
    others_AB = rows_AB if same_test else np.random.default_rng(OTHER_SEED).choice(30, size=(SAMPLES, 30))
    brute_A = own_samples(first[0], rows_AB) - own_samples(first[1], rows_AB)
    brute_A = brute_A - (own_samples(second[0], others_AB) - own_samples(second[1], others_AB))
    weights = [bootstrap_weights(30), bootstrap_weights(30, seed=SEED if same_test else OTHER_SEED)]
    sampled = [sampled_scores(seeds, own) for pair, own in zip((first, second), weights, strict=True) for seeds in pair]
    result = difference_of_gains(*sampled)
    means = [statistics.fmean(own.corpus_score() for own in seeds) for seeds in (*first, *second)]
    assert result.delta == pytest.approx(means[0] - means[1] - (means[2] - means[3]))
    assert result.sentence_error == pytest.approx(statistics.stdev(brute_A))
    parts = [statistics.variance(own.corpus_score() for own in seeds) / 2 for seeds in (*first, *second)]
    assert result.seed_error**2 == pytest.approx(sum(parts))
    assert result.degrees == pytest.approx(result.error**4 / sum(part**2 for part in parts))
    single = [max(sum(parts), statistics.variance(brute_A)), sum(parts) + statistics.variance(brute_A)]
    assert result.error**2 == pytest.approx(max(single[0], single[1] - sum(own.counted_twice for own in sampled)))
    assert result.error**2 < single[1]
    if not same_test:  # the variances of independent tests add up, but for the noise of 1,000 samples
        errors = [difference_of(*pair).sentence_error for pair in (sampled[:2], sampled[2:])]
        assert result.sentence_error == pytest.approx(math.hypot(*errors), rel=0.05)


def test_independent_samples_of_two_tests_do_not_vary_together():
    """Even of tests with the same number of sentences, in whose scores the same positions stand out."""
    values_B = np.random.default_rng(1).exponential(size=400)
    means = [bootstrap_weights(400, seed=seed) @ values_B / 400 for seed in (SEED, OTHER_SEED, SEED)]
    assert abs(np.corrcoef(means[0], means[1])[0, 1]) < 0.1
    assert np.corrcoef(means[0], means[2])[0, 1] == pytest.approx(1)


def test_scores_that_occur_twice_in_a_difference_of_differences_count_once():
    rng = np.random.default_rng(2)
    a, b, c = (sampled_runs(rng.normal(30, 1, 3).tolist(), rng.normal(30, 1, 50), twice=k / 100) for k in (1, 2, 3))
    cancelled = difference_of_gains(a, b, c, b)
    plain = difference_of(a, c)
    for key in ("delta", "seed_error", "sentence_error", "error", "degrees", "interval", "detectable", "p"):
        assert getattr(cancelled, key) == pytest.approx(getattr(plain, key)), key
    doubled = difference_of_gains(a, b, b, c)
    variances = [statistics.variance(own.scores) / 3 for own in (a, b, c)]
    assert doubled.delta == pytest.approx(statistics.fmean(a.scores) + statistics.fmean(c.scores)
                                          - 2 * statistics.fmean(b.scores))  # fmt: skip
    assert doubled.seed_error**2 == pytest.approx(variances[0] + 4 * variances[1] + variances[2])
    assert doubled.sentence_error == pytest.approx(np.std(a.mean_A - 2 * b.mean_A + c.mean_A, ddof=1))
    assert doubled.error**2 == pytest.approx(doubled.seed_error**2 + doubled.sentence_error**2 - 0.01 - 4 * 0.02 - 0.03)


@pytest.mark.parametrize("position", range(4))
def test_one_system_with_one_seed_hides_the_training_noise_of_all(position):
    rng = np.random.default_rng(3)
    four = [sampled_runs(rng.normal(30, 1, 3).tolist(), rng.normal(30, 1, 50), twice=0.01) for _ in range(4)]
    four[position] = SampledScores(four[position].scores[:1], four[position].sampled_RA[:1])
    result = difference_of_gains(*four)
    assert (result.with_training_noise, result.error) == (False, result.sentence_error)
