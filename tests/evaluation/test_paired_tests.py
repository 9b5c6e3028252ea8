"""Paired bootstrap and approximate randomisation, against sacreBLEU's own."""

import numpy as np
import pytest
from evaluation.test_sentence_statistics import draw
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.evaluation.bootstrap import bootstrap_weights
from nmtcore.evaluation.metrics import METRICS
from nmtcore.evaluation.paired_tests import (
    bootstrap_test,
    randomisation_swaps,
    randomisation_test,
    run_paired_tests,
)

OWN = {"bleu": BLEU, "chrf": CHRF}


def sacrebleu_p(metric, method, systems, references, trials, *, seed):
    """Return the p-value of sacreBLEU's test of the second system against the first."""
    named = [(str(i), lines) for i, lines in enumerate(systems)]
    _, results = PairedTest(named, {"m": OWN[metric]()}, [references], test_type=method, n_samples=trials)()
    return next(values for name, values in results.items() if name != "System")[1].p_value


def own_p(metric, method, systems, references, trials, *, seed):
    baseline, system = (METRICS[metric].statistics(lines, references, EvaluationSettings()) for lines in systems)
    if method == "bs":
        return bootstrap_test(system, baseline, bootstrap_weights(len(references), samples=trials, seed=seed))
    return randomisation_test(system, baseline, randomisation_swaps(len(references), trials=trials, seed=seed))


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
@pytest.mark.parametrize("method", ["bs", "ar"])
@pytest.mark.parametrize("seed", [12345, 7])
def test_p_values_are_those_of_sacrebleu(metric, method, seed, monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", str(seed))
    _, references = draw(40)
    for others in (0.25, 0.3, 0.5):
        systems = [draw(40, wrong=0.4)[0], draw(40, wrong=others)[0]]
        arguments = (metric, method, systems, references, 150)
        assert own_p(*arguments, seed=seed) == sacrebleu_p(*arguments, seed=seed)
    few = [list(references), [*references[:-3], "x", "The", "cat, sees"]]  # many trials with the real difference
    assert own_p(metric, "ar", few, references, 150, seed=seed) == sacrebleu_p(
        metric, "ar", few, references, 150, seed=seed
    )


@pytest.mark.parametrize("method", ["bs", "ar"])
def test_p_values_on_real_text_are_those_of_sacrebleu(method, shared, monkeypatch):
    """Two simple translations from a real reference: a word dropped, and words swapped."""
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    path = next((shared / "data" / "multi30k").glob("**/test*.en"), None)
    assert path is not None
    references = path.read_text(encoding="utf-8").splitlines()[:200]
    first = [" ".join(line.split()[1:]) for line in references]
    second = [" ".join([*line.split()[1::-1], *line.split()[2:]]) for line in references]
    for metric in OWN:
        arguments = (metric, method, [first, second], references, 100)
        assert own_p(*arguments, seed=12345) == sacrebleu_p(*arguments, seed=12345)


def test_seeds_are_tested_in_pairs():
    _, references = draw(30)
    counted = {
        name: [
            METRICS["bleu"].statistics(draw(30, wrong=wrong)[0], references, EvaluationSettings()) for wrong in seeds
        ]
        for name, seeds in {"base": (0.4, 0.45, 0.5), "other": (0.3, 0.35)}.items()
    }
    (result,) = run_paired_tests(counted, baseline="base", trials=50).values()
    swaps_AB, weights_AB = randomisation_swaps(30, trials=50), bootstrap_weights(30)
    pairs = [(counted["other"][i], counted["base"][i]) for i in range(2)]
    assert result.bootstrap == [bootstrap_test(*pair, weights_AB) for pair in pairs]
    assert result.randomisation == [randomisation_test(*pair, swaps_AB) for pair in pairs]


def test_equal_systems_do_not_differ():
    translations, references = draw(20)
    counted = METRICS["chrf"].statistics(translations, references, EvaluationSettings())
    (result,) = run_paired_tests({"a": [counted], "b": [counted]}, baseline="a", trials=30).values()
    assert result.bootstrap == pytest.approx([1 / 1001])  # as sacreBLEU has it: no sample differs from the real one
    assert result.randomisation == pytest.approx([1 / 31])
    assert np.array_equal(randomisation_swaps(20, trials=30), randomisation_swaps(20, trials=30))
