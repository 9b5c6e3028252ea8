"""Subsets of a test by the number of words of the source sentence."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

WIDTH = 10
"""Numbers of words that a bin covers."""

LONGEST_BIN = 60
"""Words from which on all sentences are in one bin, as there are few of them in any test."""


class LongSentences(NamedTuple):
    """The longest sentences of a test."""

    fewest_words: int
    """The words of the shortest of them."""
    rows_B: np.ndarray
    """Their positions, from 0."""


def length_bins(words: Sequence[int]) -> dict[str, np.ndarray]:
    """Divide sentences, given by their numbers of words, into bins: 1 to 10, 11 to 20... and over 60.

    Returns the positions of the sentences by the name of the bin, the shortest bin first; empty bins are left out. An
    empty sentence is in no bin.
    """
    words_B = np.asarray(words, dtype=np.int64)
    bins = {f"{low} to {low + WIDTH - 1}": (low, low + WIDTH) for low in range(1, LONGEST_BIN, WIDTH)}
    bins[f"over {LONGEST_BIN}"] = (LONGEST_BIN + 1, np.iinfo(np.int64).max)
    rows = {name: np.flatnonzero((low <= words_B) & (words_B < end)) for name, (low, end) in bins.items()}
    return {name: rows_B for name, rows_B in rows.items() if len(rows_B)}


def long_sentences(words: Sequence[int], *, share: float) -> LongSentences:
    """Return the longest sentences, at least the `share` (0 to 1) of all; those that are as long as the last count too.

    Raises `ValueError` if there are no sentences.
    """
    if not words:
        raise ValueError("there are no sentences")
    words_B = np.asarray(words, dtype=np.int64)
    # The product may be a little too large: 0.07 * 100 > 7.
    count = min(max(1, math.ceil(round(share * len(words), 6))), len(words))
    fewest = int(np.sort(words_B)[-count])
    return LongSentences(fewest, np.flatnonzero(words_B >= fewest))
