"""Sequences whose arrays are mapped from files."""

import numpy as np

from nmtcore.annotation.labels import NO_LABEL
from nmtcore.config.features import LABEL_COLUMNS
from nmtcore.features.compact import compact_lengths
from nmtcore.features.ragged import Ragged
from nmtcore.syntax.trees import NO_GOVERNOR

MISSING = {"governor": NO_GOVERNOR, **dict.fromkeys(LABEL_COLUMNS, NO_LABEL)}
"""The value of a word about which the annotator says nothing, by column."""


class MappedRagged(Ragged):
    """A `Ragged` whose arrays are mapped: its values may have a smaller type than `dtype`, in which it is taken."""

    __slots__ = ("_dtype", "_marks", "_missing")

    def __init__(
        self,
        values: np.ndarray,
        offsets: np.ndarray,
        *,
        dtype: np.dtype,
        missing: int | None = None,
        marks: np.ndarray | None = None,
    ) -> None:
        super().__init__(values, offsets)
        self._dtype, self._missing, self._marks = dtype, missing, marks

    @property
    def dtype(self) -> np.dtype:
        """The type of the values of sequences that are taken."""
        return self._dtype

    @property
    def lengths(self) -> np.ndarray:
        """The length of every sequence, in a type as small as possible."""
        return compact_lengths(self.offsets)

    def take(self, rows: np.ndarray) -> Ragged:
        """Copy the sequences `rows` (indices, in any order; they may repeat)."""
        taken = super().take(rows)
        return Ragged(taken.values.astype(self._dtype, copy=False), taken.offsets)

    def rows_with_other_values(self, value: float) -> np.ndarray:
        """Mark (bool, one entry per sequence) the sequences that have a value other than `value`."""
        return self._marks if value == self._missing else super().rows_with_other_values(value)

    def first(self, n: int) -> "MappedRagged":
        """Return the first `n` sequences (all, if there are fewer) as a view."""
        n = min(n, len(self))
        marks = None if self._marks is None else self._marks[:n]
        values, offsets = self.values[: self.offsets[n]], self.offsets[: n + 1]
        return MappedRagged(values, offsets, dtype=self._dtype, missing=self._missing, marks=marks)
