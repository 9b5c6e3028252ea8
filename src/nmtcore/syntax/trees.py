"""Three representations of a word's head, the sentinels for roots and unknown heads, and the shapes of many trees.

The three keep their names from file to tensor:

head             As in CoNLL-U and in `annotation/`: words count from 1. A root has `HEAD_OF_ROOT`; a sentence without a
                 tree has null instead of heads.
governor         As stored in `features/`: words count from 0, so a governor is the head minus 1. A root has
                 `GOVERNOR_OF_ROOT`, a word with an unknown governor `NO_GOVERNOR`.
parent position  The mean position of the governor's subwords, a fraction; for a root, of its own subwords. In files,
                 positions count from the sentence's first subword. In a batch they are source positions, and a token
                 with an unknown governor has `NO_POSITION`.

In a batch, an integer source position (for example of a governor's first subword) is `NO_COLUMN` if there is none.
`ROOT_ENTRY` is the artificial root in sentences and vocabularies.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

HEAD_OF_ROOT = 0
GOVERNOR_OF_ROOT, NO_GOVERNOR = -1, -2
NO_POSITION = -1.0
NO_COLUMN = -1
ROOT_ENTRY = "<ROOT>"

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


class ForestShape(NamedTuple):
    """Measurements of B forests."""

    roots_B: np.ndarray
    """Number of words whose head is `HEAD_OF_ROOT`."""
    depth_B: np.ndarray
    """Edges from the artificial root to the deepest word; 0 for a sentence without words."""
    projective_B: np.ndarray
    """Whether no edges cross, so that the subtree of every word is contiguous."""


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
    """Measure the shapes of B forests; arguments and errors are as for `word_depths`."""
    depth_W = word_depths(heads_W, lengths_B)
    sentence_W = np.repeat(np.arange(len(lengths_B)), lengths_B)
    depth_B = np.zeros(len(lengths_B), np.int64)
    np.maximum.at(depth_B, sentence_W, depth_W)
    trees = np.split(heads_W, np.cumsum(lengths_B))[:-1]
    return ForestShape(
        roots_B=np.bincount(sentence_W[heads_W == HEAD_OF_ROOT], minlength=len(lengths_B)),
        depth_B=depth_B,
        projective_B=np.array([_is_projective(heads_W) for heads_W in trees], dtype=bool),
    )


def _is_projective(heads_W: np.ndarray) -> bool:
    """Return whether no two edges cross, with the artificial root to the left of all words."""
    words_W = np.arange(1, len(heads_W) + 1)
    left_W, right_W = np.minimum(words_W, heads_W), np.maximum(words_W, heads_W)
    starts_inside_WW = (left_W[:, None] < left_W) & (left_W < right_W[:, None])
    return not np.any(starts_inside_WW & (right_W[:, None] < right_W))
