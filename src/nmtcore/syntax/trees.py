"""How a word names the word that it hangs from, and what stands for a root or for nothing known.

Three notions, which keep their names from file to tensor:

head             As in CoNLL-U and in `annotation/`: words count from 1. A root has `HEAD_OF_ROOT`; a sentence without a
                 tree has no heads at all (null).
governor         As stored in `features/`: words count from 0, so it is the head less 1. A root has `GOVERNOR_OF_ROOT`,
                 a word of which nothing is known `NO_GOVERNOR`.
parent position  The mean position of the governor's pieces, a fraction; for a root, of its own pieces. In files
                 positions count from the sentence's first piece; in a batch they are columns of the source, and a
                 token of whose governor nothing is known has `NO_POSITION`.

In a batch a whole column of the source that is pointed to, a governor's first piece say, is `NO_COLUMN` where there is
none. The artificial root is `ROOT_ENTRY` where it stands in a sentence and its vocabulary.
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
    """Turn heads (one, or an array of any shape) into governors."""
    return heads - 1


def heads_of(governors: Numbers) -> Numbers:
    """Turn governors into heads; there is none for `NO_GOVERNOR`, which becomes a negative number."""
    return governors + 1
