"""Statistics of scores over seeds."""

import statistics
from collections.abc import Sequence
from typing import Any

from nmtcore.errors import UserError


def summarise_seeds(scores: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Summarise dictionaries with the same keys, such as {split: {metric: value}}, one per seed, in the seeds' order.

    A number becomes {"mean", "stdev", "values"}; stdev is the sample standard deviation (n - 1), None for a single
    seed. Mean and deviation ignore the seeds whose value is None. Anything else, such as a signature, must be the same
    for all seeds and is kept. Raises `UserError` if there are no scores, or if their keys or signatures differ.
    """
    if not scores:
        raise UserError("There are no scores to summarise.")
    return _summarise_values(list(scores), where="scores")


def _summarise_values(values: list[Any], *, where: str) -> Any:
    if all(isinstance(value, dict) for value in values):
        if any(value.keys() != values[0].keys() for value in values):
            raise UserError(f"The {where} of the seeds have different keys: score them again.")
        return {key: _summarise_values([value[key] for value in values], where=f"{where}.{key}") for key in values[0]}
    if any(_is_numeric(value) for value in values) and all(value is None or _is_numeric(value) for value in values):
        numbers = [value for value in values if value is not None]
        return {
            "mean": statistics.fmean(numbers),
            "stdev": statistics.stdev(numbers) if len(numbers) > 1 else None,
            "values": values,
        }
    if any(value != values[0] for value in values):
        raise UserError(f"The {where} differ between seeds ({values}), so they cannot be averaged: score them again.")
    return values[0]


def _is_numeric(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
