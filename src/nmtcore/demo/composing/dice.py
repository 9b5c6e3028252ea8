"""Random choices that are the same on every machine and with every version of Python."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Random choices from one stream of numbers, which uses only `Random.random`."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed).random

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self._random() < probability

    def pick(self, items: Sequence[T], *, skew: float = 1.0) -> T:
        """Draw one of the items; a `skew` above 1 favours the first ones, as in word frequencies."""
        return items[int(len(items) * self._random() ** skew)]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """Draw one of the keys in proportion to the weights."""
        point = self._random() * sum(weights.values())
        for key, weight in weights.items():
            point -= weight
            if point < 0:
                return key
        return key
