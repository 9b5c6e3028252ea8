"""Three representations of a word's head, the sentinels for roots and unknown heads, and the shapes of trees.

The three keep their names from file to tensor:

head             As in CoNLL-U and in `annotation/`: words count from 1. A root has `HEAD_OF_ROOT`; a sentence without a
                 tree has null instead of heads.
governor         As stored in `features/`: words count from 0, so a governor is the head minus 1. A root has
                 `GOVERNOR_OF_ROOT`, a word with an unknown governor `NO_GOVERNOR`.
parent position  The mean position of the governor's subwords, a fraction; for a root, of its own subwords. In files,
                 positions count from the sentence's first subword. In a batch they are source positions, and a token
                 with an unknown governor has `NO_POSITION`.

In a batch, an integer source position (for example of a governor's first subword) is `NO_COLUMN` if there is none.

Shapes: U nodes, W words.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

HEAD_OF_ROOT = 0
GOVERNOR_OF_ROOT, NO_GOVERNOR = -1, -2
NO_POSITION = -1.0
NO_COLUMN = -1

Numbers = TypeVar("Numbers", int, np.ndarray)


def governors_of(heads: Numbers) -> Numbers:
    """Convert heads (a number, or an array of any shape) to governors."""
    return heads - 1


def heads_of(governors: Numbers) -> Numbers:
    """Convert governors to heads; `NO_GOVERNOR` has no head and becomes a negative number."""
    return governors + 1


def find_cycle(heads: Sequence[int]) -> list[int]:
    """Follow the heads (1-based, 0 = root) of each word; return the words of the first cycle, [] if there is none."""
    sound = {HEAD_OF_ROOT}
    for start in range(1, len(heads) + 1):
        path: dict[int, None] = {}
        word = start
        while word not in sound and word not in path:
            path[word] = None
            word = heads[word - 1]
        if word not in sound:
            words = list(path)
            return words[words.index(word) :]
        sound.update(path)
    return []


class TreeShape(NamedTuple):
    """Measurements of a tree, or of a forest under the artificial root."""

    roots: int
    """Number of words whose head is `HEAD_OF_ROOT`."""
    depth: int
    """Edges from the artificial root to the deepest word; 0 for a sentence without words."""
    is_projective: bool
    """Whether no edges cross, so that the subtree of every word is contiguous."""


def check_heads(heads: Sequence[int]) -> None:
    """Raise ValueError if a head (1-based, 0 = root) is no word of the sentence."""
    if not all(0 <= head <= len(heads) for head in heads):
        raise ValueError("a head is out of range")


def tree_shape(heads: Sequence[int]) -> TreeShape:
    """Measure the shape of a tree. Raises ValueError if a head is out of range or the heads form a cycle."""
    check_heads(heads)
    if find_cycle(heads):
        raise ValueError("the heads form a cycle")
    parents_U, places_U, depth = np.array([HEAD_OF_ROOT, *heads]), np.arange(len(heads) + 1), 0
    while places_U.any():
        places_U, depth = parents_U[places_U], depth + 1
    # Two edges cross if one begins inside the other and ends outside; the artificial root is to the left of all words.
    words_W = np.arange(1, len(heads) + 1)
    left_W, right_W = np.minimum(words_W, parents_U[1:]), np.maximum(words_W, parents_U[1:])
    starts_inside_WW = (left_W[:, None] < left_W) & (left_W < right_W[:, None])
    crosses = np.any(starts_inside_WW & (right_W[:, None] < right_W))
    return TreeShape(list(heads).count(HEAD_OF_ROOT), depth, not crosses)
