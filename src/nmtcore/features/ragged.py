"""Sequences of different lengths as two flat arrays, in few bytes, with vectorised operations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

BLOCK = 100_000
"""Sequences whose values are counted at a time: temporary arrays are not longer."""


class Ragged:
    """`n` sequences: sequence i is `values[offsets[i]:offsets[i + 1]]`.

    `values` is one-dimensional, of any type; `offsets` is int64, with n + 1 ascending entries from 0 to len(values).
    The sequences of a corpus have integers of the smallest type that has them all; those that are taken for a
    batch have at least 32 bits.
    """

    __slots__ = ("offsets", "values")

    def __init__(self, values: np.ndarray, offsets: np.ndarray) -> None:
        self.values = np.asarray(values)
        self.offsets = np.asarray(offsets, dtype=np.int64)
        if self.offsets[0] != 0 or self.offsets[-1] != len(self.values):
            raise ValueError("the offsets of a Ragged must rise from 0 to the number of its values")

    @classmethod
    def from_lengths(cls, values: np.ndarray, lengths: np.ndarray) -> "Ragged":
        """Split flat `values` into sequences of the given lengths."""
        return cls(values, _offsets_of(lengths))

    @classmethod
    def from_lists(cls, lists: Sequence[Sequence], dtype: np.dtype | type | str) -> "Ragged":
        """Concatenate Python lists (or arrays)."""
        lengths = np.fromiter((len(items) for items in lists), dtype=np.int64, count=len(lists))
        values = np.fromiter((item for items in lists for item in items), dtype=dtype, count=int(lengths.sum()))
        return cls.from_lengths(values, lengths)

    @classmethod
    def concatenated(cls, parts: Sequence["Ragged"]) -> "Ragged":
        """Concatenate the sequences of parts (at least one), in a type that has the values of all."""
        if len(parts) == 1:
            return parts[0]
        values = [part.values for part in parts if len(part.values)]
        lengths = np.concatenate([part.lengths for part in parts])
        return cls.from_lengths(np.concatenate(values) if values else parts[0].values, lengths)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> np.ndarray:
        """Return sequence `i` as a view."""
        i = range(len(self))[i]
        return self.values[self.offsets[i] : self.offsets[i + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self.values[a:b] for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True))

    @property
    def lengths(self) -> np.ndarray:
        """The length of every sequence, int64."""
        return np.diff(self.offsets)

    def rows_and_columns(self) -> tuple[np.ndarray, np.ndarray]:
        """Return each value's sequence and its position in that sequence, both as long as `values`."""
        lengths = self.lengths
        rows = np.repeat(np.arange(len(self)), lengths)
        return rows, np.arange(len(self.values)) - np.repeat(self.offsets[:-1], lengths)

    def count_other_values(self, value: int) -> np.ndarray:
        """Count the values of each sequence that are not `value`."""
        if value < 0 and self.values.dtype.kind == "u":
            return self.lengths
        parts = [np.zeros(0, np.int32)]
        for start in range(0, len(self), BLOCK):
            ends = self.offsets[start : start + BLOCK + 1]
            others = np.cumsum(self.values[ends[0] : ends[-1]] != value, dtype=np.int32)
            parts.append(np.diff(np.concatenate([[0], others])[ends - ends[0]]).astype(np.int32))
        return np.concatenate(parts)

    def take(self, rows: np.ndarray) -> "Ragged":
        """Copy the sequences `rows` (indices, in any order; they may repeat), integers in at least 32 bits."""
        rows = np.asarray(rows, dtype=np.int64)
        lengths = self.offsets[rows + 1] - self.offsets[rows]
        offsets = _offsets_of(lengths)
        indices = np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        indices += np.arange(len(indices))
        return Ragged(self.values[indices].astype(_wide(self.values.dtype), copy=False), offsets)

    def enclosed(self, before: np.ndarray | int, after: np.ndarray | int) -> "Ragged":
        """Copy the sequences with a value before and after each; `before` and `after` are scalars or (n,)."""
        offsets = self.offsets + 2 * np.arange(len(self.offsets))
        values = np.empty(offsets[-1], dtype=_wide(self.values.dtype))
        inner = np.ones(len(values), dtype=bool)
        for ends, added in ((offsets[:-1], before), (offsets[1:] - 1, after)):
            values[ends], inner[ends] = added, False
        values[inner] = self.values
        return Ragged(values, offsets)

    def padded(self, *, fill: float, width: int | None = None, offset: int = 0) -> np.ndarray:
        """Return a matrix with one sequence per row, from column `offset`, and `fill` elsewhere.

        Its width is `width`, or the smallest that fits.
        """
        width = offset + int(self.lengths.max(initial=0)) if width is None else width
        array = np.full((len(self), width), fill, dtype=_wide(self.values.dtype))
        rows, columns = self.rows_and_columns()
        array[rows, columns + offset] = self.values
        return array


def _offsets_of(lengths: np.ndarray) -> np.ndarray:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def compact(values: np.ndarray) -> np.ndarray:
    """Return integers in the smallest type that has all of them; other values as they are."""
    if values.dtype.kind not in "iu":
        return values
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    smallest = np.min_scalar_type(high if low >= 0 else min(low, -1 - high))
    return values.astype(smallest) if smallest.itemsize < values.itemsize else values


def _wide(dtype: np.dtype) -> np.dtype:
    """Return a type of integers with at least 32 bits; other types as they are."""
    return np.promote_types(dtype, np.int32) if dtype.kind in "iu" else dtype


def concatenate_columns(
    blocks: Iterable[tuple[np.ndarray, Mapping[str, Ragged]]],
) -> tuple[np.ndarray, dict[str, Ragged]]:
    """Concatenate blocks (at least one) of ids and columns, the same in all; integers get the smallest types."""
    ids, parts = [], {}
    for block_ids, columns in blocks:
        ids.append(block_ids)
        for name, column in columns.items():
            parts.setdefault(name, []).append(Ragged(compact(column.values), column.offsets))
    return np.concatenate(ids), {name: Ragged.concatenated(parts.pop(name)) for name in list(parts)}
