"""Long arrays in few bytes, computed block by block: a corpus may have 10^8 pairs."""

from collections.abc import Iterator

import numpy as np

BLOCK = 100_000
"""Entries per block: temporary arrays are not longer."""


def blocks(count: int) -> Iterator[slice]:
    """Divide 0..count-1 into slices of at most `BLOCK` entries."""
    return (slice(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK))


def rows_where(mask: np.ndarray) -> np.ndarray:
    """Return the rows whose mask is True, ascending, in 32 bits."""
    parts = [(np.flatnonzero(mask[block]) + block.start).astype(np.uint32) for block in blocks(len(mask))]
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
