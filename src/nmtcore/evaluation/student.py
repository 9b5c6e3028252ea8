"""Student's t distribution, for intervals of means over few seeds."""

import math
from statistics import NormalDist

import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(100)

NEARLY_NORMAL = 1e6
"""Degrees of freedom from which the normal distribution is used; its quantiles differ by 3 millionths."""


def student_probability(t: float, degrees: float) -> float:
    """Return the probability of a value of at most `t`, with any number of degrees of freedom from 1.

    With t = sqrt(degrees) tan(angle), the density becomes cos(angle)^(degrees - 1), which is smooth up to any t.
    """
    end = math.atan(abs(t) / math.sqrt(degrees))
    angles = (_NODES + 1) * end / 2
    integral = float(np.sum(_WEIGHTS * np.cos(angles) ** (degrees - 1))) * end / 2
    logarithm = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(math.pi) / 2
    return 0.5 + math.copysign(math.exp(logarithm) * integral, t)


def student_quantile(probability: float, degrees: float) -> float:
    """Return the value below which a share `probability` (0.5 to 0.9995) of the distribution lies, by bisection."""
    if degrees > NEARLY_NORMAL:
        return NormalDist().inv_cdf(probability)
    low, high = 0.0, 1.0
    while student_probability(high, degrees) < probability:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_probability(middle, degrees) < probability else (low, middle)
    return (low + high) / 2
