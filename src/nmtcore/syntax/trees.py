"""Three representations of a word's head, and the sentinels for roots and unknown heads.

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

from typing import TypeVar

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
