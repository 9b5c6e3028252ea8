"""Student's t distribution, against printed tables, closed forms and a plain sum."""

import math
from statistics import NormalDist

import pytest

from nmtcore.evaluation.compare import NEARLY_NORMAL, student_quantile, student_tail


def student_probability(t, degrees):
    tail = student_tail(abs(t), degrees)
    return 1 - tail if t > 0 else tail


@pytest.mark.parametrize(
    ("probability", "degrees", "quantile"),
    [(0.975, 1, 12.7062), (0.975, 2, 4.3027), (0.975, 4, 2.7764), (0.975, 30, 2.0423), (0.975, 1e9, 1.9600),
     (0.8, 4, 0.9410), (0.95, 5, 2.0150), (0.99, 10, 2.7638), (0.9995, 2, 31.5991), (0.5, 3, 0.0)],
)  # fmt: skip
def test_quantiles_are_those_of_printed_tables(probability, degrees, quantile):
    assert student_quantile(probability, degrees) == pytest.approx(quantile, abs=5e-5)


def test_small_tails_keep_their_digits():
    for t in (1e3, 1e6):
        assert student_tail(t, 1) == pytest.approx(math.atan(1 / t) / math.pi, rel=1e-12)
        assert student_tail(t, 2) == pytest.approx(1 / (math.sqrt(2 + t * t) * (t + math.sqrt(2 + t * t))), rel=1e-12)
    assert student_tail(9.0, math.inf) == pytest.approx(1.1286e-19, rel=1e-3)
    assert student_tail(0.0, 7.5) == pytest.approx(0.5)


def test_quantiles_invert_probabilities():
    for degrees in (1, 1.3, 2, 5.5, 40, 900, 1e5, 9e5):
        for probability in (0.51, 0.8, 0.975, 0.999, 0.99999):
            quantile = student_quantile(probability, degrees)
            assert student_probability(quantile, degrees) == pytest.approx(probability, abs=1e-9)


def test_closed_forms():
    for t in (-30.0, -1.0, 0.0, 0.3, 2.5, 40.0):
        assert student_probability(t, 1) == pytest.approx(0.5 + math.atan(t) / math.pi, abs=1e-12)
        assert student_probability(t, 2) == pytest.approx(0.5 + t / (2 * math.sqrt(2 + t * t)), abs=1e-12)


@pytest.mark.parametrize("degrees", [1.0, 2.7, 4.0, 33.3])
def test_probabilities_are_sums_of_the_density(degrees):
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    step = 1e-3
    total = sum(scale * (1 + ((i + 0.5) * step) ** 2 / degrees) ** (-(degrees + 1) / 2) * step for i in range(2500))
    assert student_probability(2.5, degrees) == pytest.approx(0.5 + total, abs=1e-6)
    assert student_quantile(0.5 + total, degrees) == pytest.approx(2.5, abs=1e-4)


def test_many_degrees_are_nearly_normal():
    for degrees in (NEARLY_NORMAL, math.inf):
        assert student_quantile(0.975, degrees) == pytest.approx(NormalDist().inv_cdf(0.975), rel=1e-5)
