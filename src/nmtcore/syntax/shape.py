"""Depth, roots and projectivity of many trees at once."""

from typing import NamedTuple

import numpy as np


class Shape(NamedTuple):
    """A number for each of N sentences."""

    roots: np.ndarray
    """Words whose head is 0."""
    depth: np.ndarray
    """Edges from the artificial root to the deepest word; 0 for a sentence without words."""
    projective: np.ndarray
    """Whether the words below every word are contiguous."""


def forest_shape(heads: np.ndarray, lengths: np.ndarray) -> Shape:
    """Measure N forests; `heads` (W,) are their words' heads one after the other (1-based, 0 = root), `lengths` (N,).

    Every word climbs one step at a time, all words together; a subtree is contiguous if it has as many words as lie
    between its leftmost and its rightmost. Heads out of range or in a cycle are a `ValueError`.
    """
    heads, lengths = heads.astype(np.int64), lengths.astype(np.int64)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    if np.any(heads < 0) or np.any(heads > lengths[sentence]):
        raise ValueError("a head is out of range")
    words = np.arange(len(heads))
    parent = np.where(heads == 0, -1, first + heads - 1)
    size, left, right = np.ones_like(words), words.copy(), words.copy()
    depth = np.ones_like(words)
    below, above = words, parent
    for _ in range(int(np.max(lengths, initial=0))):
        climbing = above >= 0
        below, above = below[climbing], above[climbing]
        if not len(above):
            break
        depth[below] += 1
        size += np.bincount(above, minlength=len(words))
        np.minimum.at(left, above, below)
        np.maximum.at(right, above, below)
        above = parent[above]
    if np.any(above >= 0):
        raise ValueError("the heads form a cycle")
    contiguous = right - left + 1 == size
    deepest = np.zeros(len(lengths), np.int64)
    np.maximum.at(deepest, sentence, depth)
    return Shape(
        roots=np.bincount(sentence, weights=heads == 0, minlength=len(lengths)).astype(np.int64),
        depth=deepest,
        projective=np.bincount(sentence, weights=~contiguous, minlength=len(lengths)) == 0,
    )
