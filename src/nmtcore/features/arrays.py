"""Long arrays in few bytes, computed block by block, and written to files: a corpus may have 10^8 pairs."""

from collections.abc import Iterator, Sequence
from pathlib import Path

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


def write_concatenated(path: Path, parts: Sequence[Path]) -> None:
    """Concatenate arrays in .npy files (at least one) into another, in a type that has the values of all."""
    arrays = [open_array(part) for part in parts]
    write_arrays(path, [array for array in arrays if len(array)] or arrays[:1])


def write_arrays(path: Path, arrays: Sequence[np.ndarray]) -> None:
    """Write arrays one after the other as one .npy file; `np.save` does not notice when the disk is full."""
    dtype, shape = np.result_type(*arrays), (sum(map(len, arrays)),)
    with open(path, "xb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": dtype.str, "fortran_order": False, "shape": shape})
        for array in arrays:
            file.write(array.astype(dtype).data)


def open_array(path: Path) -> np.ndarray:
    """Map the array in a .npy file, read-only. Raises `ValueError` if the file is cut or no such file."""
    return np.asarray(np.lib.format.open_memmap(path, mode="r"))
