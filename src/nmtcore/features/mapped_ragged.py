"""Sequences whose arrays are mapped from files: written batch by batch, and opened."""

from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np

from nmtcore.annotation.labels import NO_LABEL
from nmtcore.config.features import LABEL_COLUMNS
from nmtcore.features.compact import compact_lengths
from nmtcore.features.examples import NO_WORD
from nmtcore.features.mapped_arrays import array_writer, open_array
from nmtcore.features.ragged import Ragged
from nmtcore.syntax.trees import NO_GOVERNOR

MISSING = {"word_of_subword": NO_WORD, "governor": NO_GOVERNOR, **dict.fromkeys(LABEL_COLUMNS, NO_LABEL)}
"""The value that says that there is none, by column; the other values of each sequence are counted."""
ENDINGS = ("values", "offsets", "counts")
"""The endings of the files of a column; only those in `MISSING` have counts."""


class MappedRagged(Ragged):
    """A `Ragged` whose arrays are mapped: its values may have a smaller type than `dtype`, in which it is taken."""

    __slots__ = ("_counts", "_dtype", "_missing")

    def __init__(
        self,
        values: np.ndarray,
        offsets: np.ndarray,
        *,
        dtype: np.dtype,
        missing: int | None = None,
        counts: np.ndarray | None = None,
    ) -> None:
        super().__init__(values, offsets)
        self._dtype, self._missing, self._counts = dtype, missing, counts

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

    def count_other_values(self, value: float) -> np.ndarray:
        """Count the values of each sequence that are not `value`."""
        return self._counts if value == self._missing else super().count_other_values(value)

    def first(self, n: int) -> "MappedRagged":
        """Return the first `n` sequences (all, if there are fewer) as a view."""
        n = min(n, len(self))
        counts = None if self._counts is None else self._counts[:n]
        values, offsets = self.values[: self.offsets[n]], self.offsets[: n + 1]
        return MappedRagged(values, offsets, dtype=self._dtype, missing=self._missing, counts=counts)


class ColumnWriter:
    """Writes the files of a column, which appear when `stack` closes without an error."""

    def __init__(self, stack: ExitStack, folder: Path, name: str, stored: np.dtype, key: str) -> None:
        types = {"values": stored, "offsets": np.dtype(np.int64), "counts": np.dtype(np.int32)}
        paths = _paths(folder, name)
        self._arrays = {e: stack.enter_context(array_writer(path, types[e], key)) for e, path in paths.items()}
        self._missing = _missing(name)
        self._arrays["offsets"].append(np.zeros(1, dtype=np.int64))

    def append(self, column: Ragged) -> None:
        """Append sequences."""
        self._arrays["offsets"].append(column.offsets[1:] + self._arrays["values"].count)
        self._arrays["values"].append(column.values)
        if "counts" in self._arrays:
            self._arrays["counts"].append(column.count_other_values(self._missing))


def open_column(folder: Path, name: str, dtype: np.dtype, key: str) -> MappedRagged | None:
    """Map a column that a `ColumnWriter` wrote; None if a file is missing or damaged, or has another key."""
    arrays = {ending: open_array(path, key) for ending, path in _paths(folder, name).items()}
    if any(array is None for array in arrays.values()):
        return None
    with suppress(ValueError):  # offsets that cannot be right
        return MappedRagged(**arrays, dtype=dtype, missing=_missing(name))
    return None


def _missing(name: str) -> int | None:
    """Return the missing value of a column; its name may follow that of its side (`source.governor`)."""
    return MISSING.get(name.rpartition(".")[2])


def _paths(folder: Path, name: str) -> dict[str, Path]:
    endings = ENDINGS if _missing(name) is not None else ENDINGS[:2]
    return {ending: folder / f"{name}.{ending}" for ending in endings}
