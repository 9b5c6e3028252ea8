"""The curves of a system's training, from its logs: training loss, dev BLEU or perplexity, and tag accuracy."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from nmtcore.errors import LineError
from nmtcore.training.log import TRANSLATION_LOSS, read_history

AXES = {
    "loss": "training loss per target token",
    "bleu": "dev BLEU in validation",
    "perplexity": "dev perplexity",
    "accuracy": "tag accuracy on dev, %",
}
"""The metrics and their axes; not every run has values of each."""

POINTS = 200
"""Points of a loss curve; each is the mean of several lines of the log if there are more."""


def system_curves(dataset: str, system: str, histories: Mapping[int, Path], *, points: int = POINTS) -> dict[str, Any]:
    """Read the curves of a system, in the form of `curve_entries`, from the log of each seed; of the loss, `points`.

    A metric has the curves of the seeds that have it. Raises `LineError` if a log is broken.
    """
    values = {seed: _values(path) for seed, path in histories.items()}
    lines = max(len(own["loss"]) for own in values.values())
    size = math.ceil(lines / points) or 1
    for own in values.values():
        own["loss"] = _thinned(own["loss"], size)
    curves = {
        metric: {str(seed): own[metric] for seed, own in values.items() if own[metric]}
        for metric in AXES
        if any(own[metric] for own in values.values())
    }
    return {"dataset": dataset, "system": system, "seeds": list(histories), "curves": curves}


def _values(history: Path) -> dict[str, list[tuple[int, float]]]:
    """Read the points of each metric from a log; values that were not finite are left out."""
    values: dict[str, list[tuple[int, float]]] = {metric: [] for metric in AXES}
    for number, record in enumerate(read_history(history), start=1):
        update = record.get("update")
        if not isinstance(update, int) or not isinstance(record.get("validation", {}), dict):
            raise LineError(history, number, "this is no line of a training log: delete the file and train again.")
        for metric, value in _metrics(record):
            if isinstance(value, int | float):
                values[metric].append((update, value))
    return values


def _metrics(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if "validation" not in record:
        yield "loss", record.get(TRANSLATION_LOSS)
        return
    scores = record["validation"]
    yield from ((metric, scores.get(metric)) for metric in ("bleu", "perplexity"))
    accuracies = [value for name, value in scores.items() if name.startswith("accuracy/") and value is not None]
    if accuracies:
        yield "accuracy", 100 * fmean(accuracies)


def _thinned(points: Sequence[tuple[int, float]], size: int) -> list[tuple[int, float]]:
    """Replace each `size` points by their mean, at the last one's update, so that seeds keep the same updates."""
    pieces = [points[start : start + size] for start in range(0, len(points), size)]
    return [(piece[-1][0], fmean(value for _, value in piece)) for piece in pieces]
