"""Paired bootstrap and approximate randomisation, against sacreBLEU's own."""

import numpy as np
import pytest
from evaluation.test_metrics import draw
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.evaluation.compare import SEED, bootstrap_weights, paired_tests, randomisation_swaps
from nmtcore.evaluation.metrics import METRICS

OWN = {"bleu": BLEU, "chrf": CHRF}


def sacrebleu_p(metric, method, systems, references, trials, *, seed):
    """Return the p-value of sacreBLEU's test of the second system against the first."""
    named = [(str(i), lines) for i, lines in enumerate(systems)]
    _, results = PairedTest(named, {"m": OWN[metric]()}, [references], test_type=method, n_samples=trials)()
    return next(values for name, values in results.items() if name != "System")[1].p_value


def own_p(metric, method, systems, references, trials, *, seed):
    baseline, system = (METRICS[metric].count(lines, references, EvaluationSettings()) for lines in systems)
    weights_AB = bootstrap_weights(len(references), samples=trials, seed=seed)
    swaps_AB = np.random.default_rng(seed).integers(2, size=(trials, len(references)), dtype=bool)
    if seed == SEED:
        assert np.array_equal(swaps_AB, randomisation_swaps(len(references), trials=trials))
    tested = paired_tests(system, baseline, weights_AB, swaps_AB)
    assert tested.delta == system.corpus_score() - baseline.corpus_score()
    return tested.bootstrap if method == "bs" else tested.randomisation


@pytest.mark.parametrize(
    ("metric", "method", "seed"), [("bleu", "bs", SEED), ("bleu", "ar", 7), ("chrf", "bs", 7), ("chrf", "ar", SEED)]
)
def test_p_values_are_those_of_sacrebleu(metric, method, seed, monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", str(seed))
    _, references = draw(40)
    for others in (0.25, 0.3, 0.5):
        systems = [draw(40, wrong=0.4)[0], draw(40, wrong=others)[0]]
        arguments = (metric, method, systems, references, 150)
        assert own_p(*arguments, seed=seed) == sacrebleu_p(*arguments, seed=seed)
    few = [list(references), [*references[:-3], "x", "The", "cat, sees"]]  # many trials with the real difference
    arguments = (metric, "ar", few, references, 150)
    assert own_p(*arguments, seed=seed) == sacrebleu_p(*arguments, seed=seed)


def test_equal_systems_do_not_differ():
    translations, references = draw(20)
    counted = METRICS["chrf"].count(translations, references, EvaluationSettings())
    draws = bootstrap_weights(20, samples=30), randomisation_swaps(20, trials=30)
    # As sacreBLEU has it: no sample differs from the real one.
    assert paired_tests(counted, counted, *draws) == (0, pytest.approx(1 / 31), pytest.approx(1 / 31))
