"""Long arrays in few bytes, computed block by block or grown in memory or in a file: a corpus may have 10^8 pairs."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

BLOCK = 100_000
"""Entries per block: temporary arrays are not longer."""


def blocks(count: int) -> Iterator[slice]:
    """Divide 0..count-1 into slices of at most `BLOCK` entries."""
    return (slice(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK))


def row_type(count: int) -> np.dtype:
    """Return the type of row numbers below `count`: 32 bits, if they suffice."""
    return np.dtype(np.uint32 if count <= 2**32 else np.int64)


def rows_where(mask_N: np.ndarray) -> np.ndarray:
    """Return the rows whose mask is True, ascending, in `row_type`."""
    rows, filled = np.empty(np.count_nonzero(mask_N), dtype=row_type(len(mask_N))), 0
    for block in blocks(len(mask_N)):
        selected = np.flatnonzero(mask_N[block])
        np.add(selected, block.start, out=rows[filled : filled + len(selected)], casting="unsafe")
        filled += len(selected)
    return rows


def compact_lengths(offsets: np.ndarray, *, added: int = 0) -> np.ndarray:
    """Return the length of every sequence plus `added`, in 16 bits if they suffice, else in int64.

    `offsets` (n + 1) are those of a `Ragged`.
    """
    count = len(offsets) - 1

    def lengths(block: slice) -> np.ndarray:
        return np.diff(offsets[block.start : block.stop + 1]) + added

    longest = max((int(lengths(block).max()) for block in blocks(count)), default=0)
    result = np.empty(count, dtype=np.uint16 if longest < 2**16 else np.int64)
    for block in blocks(count):
        result[block] = lengths(block)
    return result


def compact(values: np.ndarray) -> np.ndarray:
    """Return integers in the smallest type that has all of them; other values as they are."""
    if values.dtype.kind not in "iu":
        return values
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    smallest = np.min_scalar_type(high if low >= 0 else min(low, -1 - high))
    return values.astype(smallest) if smallest.itemsize < values.itemsize else values


class GrowingArray:
    """A one-dimensional array in memory to which values can be appended; its type has all values of their types."""

    def __init__(self) -> None:
        self._array = np.zeros(0, np.uint8)

    def __len__(self) -> int:
        return len(self._array)

    def append(self, values: np.ndarray) -> None:
        """Append a copy of `values`."""
        length = len(self._array)
        dtype = np.promote_types(self._array.dtype, values.dtype) if length else values.dtype
        self._array = self._array.astype(dtype, copy=False)
        # Nothing else refers to the array before `finish`, so its memory may move (on Linux without copying).
        self._array.resize(length + len(values), refcheck=False)
        self._array[length:] = values

    def finish(self) -> np.ndarray:
        """Return the array; nothing may be appended afterwards."""
        return self._array


class GrowingFile:
    """A one-dimensional array in one of numpy's .npy files to which values can be appended, as to a `GrowingArray`."""

    def __init__(self, path: Path) -> None:
        self._path, self._dtype, self._count = path, np.dtype(np.uint8), 0
        self._write_header("wb")

    def __len__(self) -> int:
        return self._count

    def append(self, values: np.ndarray) -> None:
        """Append values."""
        dtype = np.promote_types(self._dtype, values.dtype) if self._count else values.dtype
        if dtype != self._dtype:
            self._change_type(dtype)
        with open(self._path, "ab") as file:
            file.write(np.ascontiguousarray(values, dtype).data)
        self._count += len(values)

    def finish(self) -> np.ndarray:
        """Complete the file, and map it."""
        self._write_header("rb+")
        return open_array(self._path)

    def _change_type(self, dtype: np.dtype) -> None:
        """Write the file again in another type."""
        written = self.finish()
        os.unlink(self._path)  # it stays mapped
        self._dtype, self._count = dtype, 0
        self._write_header("wb")
        for block in blocks(len(written)):
            self.append(written[block].astype(dtype))

    def _write_header(self, mode: str) -> None:
        """Write the header, which always takes the same space: numpy pads it, so that arrays can grow."""
        header = {"descr": self._dtype.str, "fortran_order": False, "shape": (self._count,)}
        with open(self._path, mode) as file:
            np.lib.format.write_array_header_1_0(file, header)


def open_array(path: Path) -> np.ndarray:
    """Map the array in a .npy file, read-only. Raises `ValueError` if the file is cut or no such file."""
    return np.asarray(np.lib.format.open_memmap(path, mode="r"))
