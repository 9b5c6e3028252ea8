"""One result from the results of several seeds."""

import statistics
from collections.abc import Sequence
from typing import Any

from nmtcore.errors import UserError


def summarise_seeds(scores: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Summarise dictionaries of the same keys, such as {split: {metric: value}}, one a seed, in the seeds' order.

    A number becomes {"mean", "stdev", "values"}: the sample standard deviation (n - 1), None for a single seed. A value
    that some seed does not have (None) leaves mean and deviation to the others. Anything else (a signature, say) must
    be the same in all, and is kept. No scores, or scores that do not belong together, are a `UserError`.
    """
    if not scores:
        raise UserError("There are no scores to summarise.")
    return _summary(list(scores), where="scores")


def _summary(values: list[Any], *, where: str) -> Any:
    if all(isinstance(value, dict) for value in values):
        if any(value.keys() != values[0].keys() for value in values):
            raise UserError(f"The {where} of the seeds have different entries: score them again.")
        return {key: _summary([value[key] for value in values], where=f"{where}.{key}") for key in values[0]}
    if any(_is_number(value) for value in values) and all(value is None or _is_number(value) for value in values):
        known = [value for value in values if value is not None]
        return {
            "mean": statistics.fmean(known),
            "stdev": statistics.stdev(known) if len(known) > 1 else None,
            "values": values,
        }
    if any(value != values[0] for value in values):
        raise UserError(f"The {where} differ between seeds ({values}): they cannot be averaged. Score them again.")
    return values[0]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
