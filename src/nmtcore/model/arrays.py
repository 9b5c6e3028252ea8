"""A batch as numpy arrays, before it becomes tensors; components read it and add to it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from nmtcore.features.examples import SideExamples
from nmtcore.syntax.trees import NO_COLUMN


class SourceSubwords(NamedTuple):
    """The positions of all real source subwords of a batch, and their words: int64."""

    rows_J: np.ndarray
    columns_J: np.ndarray
    """Columns in `source_BS`."""
    words_J: np.ndarray
    """Words, counted from 0 in each sentence."""


@dataclass(kw_only=True)
class BatchArrays:
    """The numpy arrays of a batch, and what components add to them in `extra` and `counts`."""

    source_BS: np.ndarray
    source: SideExamples
    """The source sentences of the batch, in its order."""
    offset: int
    """Length of the prefixes of all components. Subword i of a sentence is in column `offset + i`."""
    target_input_BT: np.ndarray | None = None
    target_output_BT: np.ndarray | None = None
    extra: dict[str, np.ndarray] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    @cached_property
    def subwords(self) -> SourceSubwords:
        """The real source subwords, sentence by sentence."""
        rows_J, positions_J = self.source.word_of_subword.rows_and_columns()
        return SourceSubwords(rows_J, positions_J + self.offset, self.source.word_of_subword.values.astype(np.int64))

    @cached_property
    def first_subword_BW(self) -> np.ndarray:
        """The column of each word's first subword; `NO_COLUMN` after a sentence's last word."""
        rows_J, columns_J, words_J = self.subwords
        is_first_J = columns_J == self.offset
        is_first_J[1:] |= words_J[1:] != words_J[:-1]
        shape = (len(self.source_BS), int(words_J.max(initial=-1)) + 1)
        first_subword_BW = np.full(shape, NO_COLUMN, dtype=np.int64)
        first_subword_BW[rows_J[is_first_J], words_J[is_first_J]] = columns_J[is_first_J]
        return first_subword_BW
