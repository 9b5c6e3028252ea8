"""Notice files that are shifted against each other, by the lengths of the sentences: those of translations go together.

Lengths are compared by their ranks, so that one very long line does not decide. The ranks of clean text correlate by
.7 and more, those of shifted text by up to .3, since neighbours in a document are alike (docs/data.md has the figures).
"""

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

WINDOW, LEAST_WINDOW = 250, 50
"""Pairs that are compared at a time, half of them by turns; a third of a small split."""
MOST_LINES = 100
"""Lines by which files may be shifted, to be told so."""
LOW = 0.6
"""From this correlation on, a window is sound. Windows of 250 pairs of clean text have .66 and more."""
MARGIN = 3.5
"""Standard errors by which another line must fit better than all others, the same line included. It is 5 and more in
windows of 250 shifted pairs, and at most 1.2 where no line fits."""
WINDOW_LENGTHS, LEAST_LENGTHS = 12, 30
"""Different lengths that each side of a window, and of all pairs, must have; formulas and single words have fewer."""


@dataclass(frozen=True, kw_only=True)
class Shift:
    """Pairs whose source is the translation of another line of the target."""

    first: int
    """The first of them, from 0, within a few pairs."""
    end: int
    """The first pair after them."""
    lines: int
    """Lines by which the right target is below (above if negative)."""
    correlation: float
    """That of the pairs' lengths as they are."""
    shifted: float
    """That with the right lines."""


def correlation(source: np.ndarray, target: np.ndarray) -> float | None:
    """Return the correlation of the ranks of lengths; None if there are too few different lengths to judge by."""
    if min(len(np.unique(source)), len(np.unique(target))) < LEAST_LENGTHS:
        return None
    return float(_correlations(_ranks(source), _ranks(target)[None])[0])


def find_shifts(source: np.ndarray, target: np.ndarray) -> list[Shift]:
    """Find stretches of shifted pairs by the lengths of both sides; none if lengths cannot tell, as in formulas."""
    source, target = _ranks(source), _ranks(target)
    window, shifts = min(WINDOW, max(LEAST_WINDOW, len(source) // 3)), []
    last = len(source) - window
    if last < window:
        return []
    for first in (*range(0, last, window // 2), last):
        if not shifts or first + window // 2 >= shifts[-1].end:
            shift = _shift_around(source, target, first, window)
            shifts += [] if shift is None else [shift]
    return shifts


def _shift_around(source: np.ndarray, target: np.ndarray, first: int, window: int) -> Shift | None:
    """Return the stretch of shifted pairs around a window, if its sides fit better with another line than with all."""
    source_window = source[first : first + window]
    same = target[first : first + window]
    lengths = min(len(np.unique(source_window)), len(np.unique(same)))
    if lengths < WINDOW_LENGTHS or _correlations(source_window, same[None])[0] >= LOW:
        return None
    above = min(MOST_LINES, first)
    others = sliding_window_view(target[first - above : first + window + MOST_LINES], window)
    correlations = _correlations(source_window, others)
    *_, second, best = np.argsort(correlations)
    error = np.sqrt(2 / (window - 3))
    if best == above or np.diff(np.arctanh(correlations[[second, best]]))[0] < MARGIN * error:
        return None
    lines = int(best) - above
    # The pairs from which on, and up to which, the other lines fit better: where the sum of advantages is largest.
    numbers = np.arange(len(source))
    there = np.clip(numbers + lines, 0, len(source) - 1)
    advantages = np.abs(source - target) - np.abs(source - target[there])
    sums, middle = np.concatenate([[0.0], np.cumsum(advantages)]), first + window // 2
    begin, end = int(np.argmin(sums[: middle + 1])), middle + int(np.argmax(sums[middle:]))
    return Shift(
        first=begin,
        end=end,
        lines=lines,
        correlation=float(_correlations(source[begin:end], target[None, begin:end])[0]),
        shifted=float(_correlations(source[begin:end], target[None, there[begin:end]])[0]),
    )


def _ranks(lengths: np.ndarray) -> np.ndarray:
    """Return the rank of each length between 0 and 1; equal ones have the average of their ranks."""
    _, numbers, counts = np.unique(lengths, return_inverse=True, return_counts=True)
    return ((np.cumsum(counts) - counts / 2) / max(1, len(lengths)))[numbers]


def _correlations(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Correlate an array [W] with each row of another [N, W]; 0 if one does not vary, and less than 1."""
    values, others = values - values.mean(), others - others.mean(1, keepdims=True)
    scale = np.sqrt((values @ values) * (others * others).sum(1))
    return np.clip(others @ values / np.where(scale > 0, scale, np.inf), -0.999, 0.999)
