"""Student's t distribution, for tests and intervals of means over few seeds."""

import math
from statistics import NormalDist

NEARLY_NORMAL = 1e6
"""Degrees of freedom from which the normal distribution is used; its quantiles differ by 3 millionths."""

_SMALLEST = 1e-300
"""What a denominator of a continued fraction becomes instead of 0."""
_PRECISION = 1e-15


def student_tail(t: float, degrees: float) -> float:
    """Return the probability of a value above `t`, which is not negative, with any number of degrees of freedom from 1.

    Small probabilities are relatively exact. The two tails together are the regularised incomplete beta function of
    degrees / (degrees + t^2).
    """
    if degrees > NEARLY_NORMAL:
        return math.erfc(t / math.sqrt(2)) / 2
    total = degrees + t * t
    return _incomplete_beta(degrees / total, t * t / total, degrees / 2, 0.5) / 2


def student_probability(t: float, degrees: float) -> float:
    """Return the probability of a value of at most `t`, with any number of degrees of freedom from 1."""
    tail = student_tail(abs(t), degrees)
    return 1 - tail if t > 0 else tail


def student_quantile(probability: float, degrees: float) -> float:
    """Return the value below which a share `probability` (at least 0.5) of the distribution lies.

    By Newton's method from the normal quantile: that is below the answer, where the steps cannot go too far.
    """
    t = NormalDist().inv_cdf(probability)
    if degrees > NEARLY_NORMAL:
        return t
    logarithm = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    for _ in range(200):
        density = math.exp(logarithm - (degrees + 1) / 2 * math.log1p(t * t / degrees))
        step = (student_tail(t, degrees) - (1 - probability)) / density
        t += step
        if abs(step) < 1e-12 * (1 + t):
            break
    return t


def _incomplete_beta(x: float, complement: float, a: float, b: float) -> float:
    """Compute the regularised incomplete beta function of x = 1 - `complement`, both given to keep their digits."""
    if x <= 0 or complement <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side
        return 1 - _incomplete_beta(complement, x, b, a)
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(complement)
    return math.exp(logarithm) / a * _beta_fraction(x, a, b)


def _beta_fraction(x: float, a: float, b: float) -> float:
    """Evaluate the incomplete beta function's continued fraction, 1 / (1 + c1 / (1 + ...)), by Lentz's method."""

    def coefficient(term: int) -> float:
        half = term // 2
        if term % 2:
            return -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        return half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))

    upper, lower = 1.0, 1 / (1 + coefficient(1))
    value = lower
    for term in range(2, 20_000):
        lower = 1 / (1 + coefficient(term) * lower or _SMALLEST)
        upper = 1 + coefficient(term) / upper or _SMALLEST
        value *= lower * upper
        if abs(lower * upper - 1) < _PRECISION:
            break
    return value
