"""Depth, roots and projectivity of many trees at once."""

from typing import NamedTuple

import numpy as np

from nmtcore.syntax.trees import GOVERNOR_OF_ROOT, HEAD_OF_ROOT, governors_of


class ForestShape(NamedTuple):
    """Measurements of B forests."""

    roots_B: np.ndarray
    """Number of words whose head is `HEAD_OF_ROOT`."""
    depth_B: np.ndarray
    """Edges from the artificial root to the deepest word; 0 for a sentence without words."""
    projective_B: np.ndarray
    """Whether the subtree of every word is contiguous."""


def governors_among_all(heads_W: np.ndarray, lengths_B: np.ndarray) -> np.ndarray:
    """Convert heads to indices into all W words: (W,) int64, from 0; `GOVERNOR_OF_ROOT` for roots.

    Raises ValueError if a head is out of range or the number of heads is not the sum of the lengths.

    Args:
        heads_W: heads of all words, one sentence after the other; 1-based, 0 = root.
        lengths_B: words per sentence.
    """
    heads_W, lengths_B = heads_W.astype(np.int64), lengths_B.astype(np.int64)
    if len(heads_W) != lengths_B.sum():
        raise ValueError(f"{len(heads_W)} heads for {lengths_B.sum()} words")
    if np.any(heads_W < 0) or np.any(heads_W > np.repeat(lengths_B, lengths_B)):
        raise ValueError("a head is out of range")
    first_word_W = np.repeat(np.cumsum(lengths_B) - lengths_B, lengths_B)
    return np.where(heads_W == HEAD_OF_ROOT, GOVERNOR_OF_ROOT, first_word_W + governors_of(heads_W))


def word_depths(heads_W: np.ndarray, lengths_B: np.ndarray) -> np.ndarray:
    """Count the edges from the artificial root to each word: (W,) int64; 1 for a root.

    Arguments are as for `governors_among_all`. All words climb towards the root together, one edge per step. Raises
    ValueError if a head is out of range or the heads form a cycle.
    """
    governors_W = governors_among_all(heads_W, lengths_B)
    depth_W = np.ones_like(governors_W)
    # Words that have not reached a root yet, and the governors that they have reached.
    words, reached = np.arange(len(governors_W)), governors_W
    for _ in range(int(np.max(lengths_B, initial=0))):
        climbing = reached != GOVERNOR_OF_ROOT
        words, reached = words[climbing], reached[climbing]
        if not len(reached):
            break
        depth_W[words] += 1
        reached = governors_W[reached]
    if np.any(reached != GOVERNOR_OF_ROOT):
        raise ValueError("the heads form a cycle")
    return depth_W


def forest_shape(heads_W: np.ndarray, lengths_B: np.ndarray) -> ForestShape:
    """Measure the shapes of B forests; arguments are as for `governors_among_all`.

    A subtree is contiguous if it has as many words as the span from its leftmost to its rightmost word. Sizes and spans
    are passed from the deepest words up to their governors. Raises ValueError if a head is out of range or the heads
    form a cycle.
    """
    depth_W = word_depths(heads_W, lengths_B)
    governors_W = governors_among_all(heads_W, lengths_B)
    sentence_W = np.repeat(np.arange(len(lengths_B)), lengths_B)
    words_W = np.arange(len(depth_W))
    size_W, left_W, right_W = np.ones_like(words_W), words_W.copy(), words_W.copy()
    order_W = np.argsort(depth_W, kind="stable")
    starts = np.searchsorted(depth_W[order_W], np.arange(2, int(np.max(depth_W, initial=1)) + 2))
    for start, stop in zip(starts[-2::-1], starts[:0:-1], strict=True):
        words = order_W[start:stop]
        governors = governors_W[words]
        np.add.at(size_W, governors, size_W[words])
        np.minimum.at(left_W, governors, left_W[words])
        np.maximum.at(right_W, governors, right_W[words])
    contiguous_W = right_W - left_W + 1 == size_W
    deepest_B = np.zeros(len(lengths_B), np.int64)
    np.maximum.at(deepest_B, sentence_W, depth_W)
    roots_B = np.bincount(sentence_W, weights=governors_W == GOVERNOR_OF_ROOT, minlength=len(lengths_B))
    return ForestShape(
        roots_B=roots_B.astype(np.int64),
        depth_B=deepest_B,
        projective_B=np.bincount(sentence_W, weights=~contiguous_W, minlength=len(lengths_B)) == 0,
    )
