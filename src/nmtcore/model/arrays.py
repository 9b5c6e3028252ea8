"""A batch as numpy arrays, before it becomes tensors; components read it and add to it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from nmtcore.features.examples import NO_WORD, SideExamples
from nmtcore.syntax.trees import NO_COLUMN


class SideSubwords(NamedTuple):
    """The positions of all real subwords of one side of a batch, and their words: int64."""

    rows_J: np.ndarray
    columns_J: np.ndarray
    """Columns in `SideArrays.tokens_BS`."""
    words_J: np.ndarray
    """Words, counted from 0 in each sentence."""


@dataclass(frozen=True, kw_only=True)
class SideArrays:
    """One side of a batch: the sources with the prefixes of components and `</s>`, or the targets with `</s>`."""

    tokens_BS: np.ndarray
    """Prefix, subwords, `</s>`, and padding on the right. S counts the positions of this side."""
    examples: SideExamples
    """The sentences, in the order of the batch."""
    offset: int = 0
    """Length of the prefix. Subword i of a sentence is in column `offset + i`."""

    @cached_property
    def ends_B(self) -> np.ndarray:
        """The column of each sentence's `</s>`."""
        return self.offset + self.examples.ids.lengths

    @cached_property
    def mask_BS(self) -> np.ndarray:
        """True for real tokens."""
        return np.arange(self.tokens_BS.shape[1]) <= self.ends_B[:, None]

    @cached_property
    def subwords(self) -> SideSubwords:
        """The real subwords, sentence by sentence, without tags that a transform added."""
        words = self.examples.word_of_subword
        rows_J, positions_J = words.rows_and_columns()
        subwords = SideSubwords(rows_J, positions_J + self.offset, words.values.astype(np.int64))
        is_text_J = subwords.words_J != NO_WORD
        return subwords if is_text_J.all() else SideSubwords(*(values[is_text_J] for values in subwords))

    @cached_property
    def first_subword_BW(self) -> np.ndarray:
        """The column of each word's first subword; `NO_COLUMN` after a sentence's last word."""
        rows_J, columns_J, words_J = self.subwords
        is_first_J = np.ones(len(rows_J), dtype=bool)
        is_first_J[1:] = (rows_J[1:] != rows_J[:-1]) | (words_J[1:] != words_J[:-1])
        shape = (len(self.tokens_BS), int(words_J.max(initial=-1)) + 1)
        first_subword_BW = np.full(shape, NO_COLUMN, dtype=np.int64)
        first_subword_BW[rows_J[is_first_J], words_J[is_first_J]] = columns_J[is_first_J]
        return first_subword_BW


@dataclass(kw_only=True)
class BatchArrays:
    """The numpy arrays of a batch, and what components add to them in `extra` and `counts`."""

    source: SideArrays
    target: SideArrays | None = None
    """The targets, as they are to be generated (without `<s>`); None if there are none."""
    extra: dict[str, np.ndarray] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
