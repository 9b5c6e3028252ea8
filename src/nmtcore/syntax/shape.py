"""Depth, roots and projectivity of many trees at once."""

from typing import NamedTuple

import numpy as np

from nmtcore.syntax.trees import GOVERNOR_OF_ROOT, HEAD_OF_ROOT, governors_of


class Shape(NamedTuple):
    """A number for each of N sentences."""

    roots: np.ndarray
    """Words whose head is `HEAD_OF_ROOT`."""
    depth: np.ndarray
    """Edges from the artificial root to the deepest word; 0 for a sentence without words."""
    projective: np.ndarray
    """Whether the words below every word are contiguous."""


def governors_among_all(heads: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Number each word's governor among all W words: (W,) int64, from 0, `GOVERNOR_OF_ROOT` for roots.

    `heads` (W,) are the heads of N sentences one after the other (1-based, 0 = root), `lengths` (N,) their words. A
    head out of range, or heads that are not as many as the lengths say, are a `ValueError`.
    """
    heads, lengths = heads.astype(np.int64), lengths.astype(np.int64)
    if len(heads) != lengths.sum():
        raise ValueError(f"{len(heads)} heads for {lengths.sum()} words")
    if np.any(heads < 0) or np.any(heads > np.repeat(lengths, lengths)):
        raise ValueError("a head is out of range")
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.where(heads == HEAD_OF_ROOT, GOVERNOR_OF_ROOT, first + governors_of(heads))


def word_depths(heads: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Count the edges from the artificial root to each of W words: (W,) int64, a root has 1.

    Arguments as for `governors_among_all`. Every word climbs one step at a time, all words together. Heads out of range
    or in a cycle are a `ValueError`.
    """
    governors = governors_among_all(heads, lengths)
    above = governors
    depth = np.ones_like(above)
    below = np.arange(len(above))
    for _ in range(int(np.max(lengths, initial=0))):
        climbing = above != GOVERNOR_OF_ROOT
        below, above = below[climbing], above[climbing]
        if not len(above):
            break
        depth[below] += 1
        above = governors[above]
    if np.any(above != GOVERNOR_OF_ROOT):
        raise ValueError("the heads form a cycle")
    return depth


def forest_shape(heads: np.ndarray, lengths: np.ndarray) -> Shape:
    """Measure N forests; `heads` (W,) are their words' heads one after the other (1-based, 0 = root), `lengths` (N,).

    A subtree is contiguous if it has as many words as lie between its leftmost and its rightmost; the deepest words
    hand theirs on to their heads first. Heads out of range or in a cycle are a `ValueError`.
    """
    depths = word_depths(heads, lengths)
    governors = governors_among_all(heads, lengths)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    words = np.arange(len(depths))
    size, left, right = np.ones_like(words), words.copy(), words.copy()
    order = np.argsort(depths, kind="stable")
    starts = np.searchsorted(depths[order], np.arange(2, int(np.max(depths, initial=1)) + 2))
    for start, stop in zip(starts[-2::-1], starts[:0:-1], strict=True):
        below = order[start:stop]
        above = governors[below]
        np.add.at(size, above, size[below])
        np.minimum.at(left, above, left[below])
        np.maximum.at(right, above, right[below])
    contiguous = right - left + 1 == size
    deepest = np.zeros(len(lengths), np.int64)
    np.maximum.at(deepest, sentence, depths)
    return Shape(
        roots=np.bincount(sentence, weights=governors == GOVERNOR_OF_ROOT, minlength=len(lengths)).astype(np.int64),
        depth=deepest,
        projective=np.bincount(sentence, weights=~contiguous, minlength=len(lengths)) == 0,
    )
