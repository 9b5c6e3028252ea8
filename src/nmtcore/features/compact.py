"""Arrays with an entry per sentence pair in few bytes, computed block by block, since a corpus may have 10^8 pairs."""

from collections.abc import Iterator

import numpy as np

BLOCK = 100_000
"""Pairs per block: temporary arrays are not longer."""


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
