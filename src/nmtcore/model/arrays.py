"""A batch in numpy, before its tensors are made: what components read and add to.

B batch, S source length (with prefix and end of sentence), T target length (with end of sentence), W words.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from nmtcore.features.examples import SideExamples
from nmtcore.syntax.trees import NO_COLUMN


@dataclass(kw_only=True)
class Arrays:
    """A batch while it is numpy: what components read, and where they put what they need."""

    source_BS: np.ndarray
    source: SideExamples
    """The batch's own rows."""
    offset: int
    """Tokens before the sentence's own: those of the components' prefixes. Column `offset + i` is subword i."""
    target_input_BT: np.ndarray | None = None
    target_output_BT: np.ndarray | None = None
    extra: dict[str, np.ndarray] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    @cached_property
    def words(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row, column in `source_BS`, and word (from 0) of every real subword: three flat int64 arrays."""
        rows, columns = self.source.word_of_subword.rows_and_columns()
        return rows, columns + self.offset, self.source.word_of_subword.values.astype(np.int64)

    @cached_property
    def first_BW(self) -> np.ndarray:
        """The column of each word's first piece, `NO_COLUMN` past a sentence's last word. Every word has a piece."""
        rows, columns, words = self.words
        first = columns == self.offset
        first[1:] |= words[1:] != words[:-1]
        first_BW = np.full((len(self.source_BS), int(words.max(initial=-1)) + 1), NO_COLUMN, dtype=np.int64)
        first_BW[rows[first], words[first]] = columns[first]
        return first_BW
