"""Student's t distribution, for tests and intervals of means over few seeds."""

import math
from statistics import NormalDist

NEARLY_NORMAL = 1e6
"""Degrees of freedom from which the normal distribution is used; its quantiles differ by 3 millionths."""

_SMALLEST = 1e-300
"""What a denominator of a continued fraction becomes instead of 0."""


def student_tail(t: float, degrees: float) -> float:
    """Return the probability of a value above `t`, which is not negative, with any number of degrees of freedom from 1.

    Small probabilities are relatively exact. The two tails together are the regularised incomplete beta function of
    degrees / (degrees + t^2).
    """
    if degrees > NEARLY_NORMAL:
        return math.erfc(t / math.sqrt(2)) / 2
    total = degrees + t * t
    return _incomplete_beta(degrees / total, t * t / total, degrees / 2, 0.5) / 2


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
    """Compute the regularised incomplete beta function of x = 1 - `complement`, both given to keep their digits.

    By its continued fraction, 1 / (1 + c1 / (1 + ...)), evaluated by Lentz's method.
    """
    if x <= 0 or complement <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side
        return 1 - _incomplete_beta(complement, x, b, a)
    lower = value = 1 / (1 - (a + b) * x / (a + 1))
    upper = 1.0
    for term in range(2, 20_000):
        half = term // 2
        numerator = -(a + half) * (a + b + half) if term % 2 else half * (b - half)
        coefficient = numerator * x / ((a + term - 1) * (a + term))
        lower = 1 / (1 + coefficient * lower or _SMALLEST)
        upper = 1 + coefficient / upper or _SMALLEST
        value *= lower * upper
        if abs(lower * upper - 1) < 1e-15:
            break
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(complement)
    return math.exp(logarithm) / a * value
