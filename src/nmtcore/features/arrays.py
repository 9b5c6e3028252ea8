"""Long arrays in few bytes, computed block by block, or appended to a file: a corpus may have 10^8 pairs."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

BLOCK = 100_000
"""Entries per block: temporary arrays are not longer."""


def blocks(count: int) -> Iterator[slice]:
    """Divide 0..count-1 into slices of at most `BLOCK` entries."""
    return (slice(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK))


def rows_where(mask_N: np.ndarray) -> np.ndarray:
    """Return the rows whose mask is True, ascending, in 32 bits."""
    parts = [(np.flatnonzero(mask_N[block]) + block.start).astype(np.uint32) for block in blocks(len(mask_N))]
    return np.concatenate([np.zeros(0, np.uint32), *parts])


def compact_lengths(offsets: np.ndarray, *, added: int = 0) -> np.ndarray:
    """Return the length of every sequence plus `added`, in 16 bits if they suffice.

    `offsets` (n + 1) are those of a `Ragged`.
    """
    parts = [compact(np.diff(offsets[block.start : block.stop + 1]) + added) for block in blocks(len(offsets) - 1)]
    return np.concatenate([np.zeros(0, np.uint16), *parts])


def compact(values: np.ndarray) -> np.ndarray:
    """Return integers in the smallest type that has all of them; other values as they are."""
    if values.dtype.kind not in "iu":
        return values
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    smallest = np.min_scalar_type(high if low >= 0 else min(low, -1 - high))
    return values.astype(smallest) if smallest.itemsize < values.itemsize else values


class GrowingFile:
    """A one-dimensional array in one of numpy's .npy files, to which values can be appended."""

    def __init__(self, path: Path) -> None:
        self._path, self._dtype, self._count = path, None, 0

    def __len__(self) -> int:
        return self._count

    def append(self, values: np.ndarray) -> None:
        """Append values; if the array's type does not have all values of theirs, it is written again in another."""
        if self._count and not len(values):
            return
        dtype = np.promote_types(self._dtype, values.dtype) if self._count else values.dtype
        if dtype != self._dtype:
            self._change_type(dtype)
        self._count += len(values)
        with open(self._path, "rb+") as file:
            self._write_header(file)
            file.seek(0, os.SEEK_END)
            file.write(np.ascontiguousarray(values, dtype).data)

    def _change_type(self, dtype: np.dtype) -> None:
        written = open_array(self._path) if self._count else np.zeros(0, dtype)
        self._path.unlink(missing_ok=True)  # it stays mapped
        self._dtype, self._count = dtype, 0
        with open(self._path, "xb") as file:
            self._write_header(file)
        for block in blocks(len(written)):
            self.append(written[block].astype(dtype))

    def _write_header(self, file: BinaryIO) -> None:
        """Write the header, which always takes the same space: numpy pads it, so that arrays can grow."""
        header = {"descr": self._dtype.str, "fortran_order": False, "shape": (self._count,)}
        np.lib.format.write_array_header_1_0(file, header)


def open_array(path: Path) -> np.ndarray:
    """Map the array in a .npy file, read-only. Raises `ValueError` if the file is cut or no such file."""
    return np.asarray(np.lib.format.open_memmap(path, mode="r"))
