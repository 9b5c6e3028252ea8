"""Random choices that come out the same on every machine and version of Python."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Chances and choices from one stream of random numbers, drawn with `random()` alone."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed).random

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return self._random() < probability

    def pick(self, items: Sequence[T], *, skew: float = 1.0) -> T:
        """Return one of the items; with a `skew` above 1 the first ones come more often, as words do."""
        return items[int(len(items) * self._random() ** skew)]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """Return one of the keys by their weights."""
        point = self._random() * sum(weights.values())
        for key, weight in weights.items():
            point -= weight
            if point < 0:
                return key
        return key
