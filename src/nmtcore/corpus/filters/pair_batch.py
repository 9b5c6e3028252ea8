"""Batches of sentence pairs as filters see them; derived values are computed at most once per batch."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

DIGEST = 16
"""Bytes of a pair's hash: the probability of a collision among 10^10 different pairs is below 10^-18."""
COLUMNS = ("source_words", "target_words")
"""The columns that filters on words read."""


@dataclass(frozen=True, kw_only=True)
class FilterContext:
    """What is known about the split and the data set before filtering."""

    rows: int
    """Number of pairs before filtering."""
    others: dict[str, Path]
    """The raw files of the data set's other splits."""
    folder: Path
    """Folder for temporary files, on the disk of the result."""
    budget_bytes: int
    """Memory limit of a filter."""
    languages: Mapping[str, str]
    """The language code of each side."""


class PairBatch:
    """A batch of pairs, restricted to the columns that the filters read.

    `first` is the number of its first row. `verdict` has for each row the number (from 1) of the filter that dropped
    it, or 0 if the row is still alive.
    """

    def __init__(self, batch: pa.RecordBatch, *, first: int = 0) -> None:
        self._batch = batch
        self.first = first
        self.verdict = np.zeros(batch.num_rows, dtype=np.uint8)

    def __len__(self) -> int:
        return self._batch.num_rows

    @property
    def alive(self) -> np.ndarray:
        """A boolean mask of the rows that no filter has dropped yet."""
        return self.verdict == 0

    def drop(self, number: int, dropped: np.ndarray) -> None:
        """Record that filter `number` drops the alive rows of a boolean mask."""
        self.verdict[self.alive & dropped] = number

    def texts(self, column: str) -> list[str]:
        """Return the raw texts of the alive rows; `column` is `source` or `target`."""
        return self._batch.column(column).filter(pa.array(self.alive)).to_pylist()

    @cached_property
    def lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """Word counts of the source and the target sides, two int64 arrays."""
        source, target = (pc.list_value_length(self._batch.column(name)).to_numpy() for name in COLUMNS)
        return source.astype(np.int64), target.astype(np.int64)

    @cached_property
    def digests(self) -> list[bytes]:
        """The 128-bit hash of each pair's words.

        Words contain no space and no line break, so joining words by spaces and sides by a line break is unambiguous.
        """
        joined = (pc.binary_join(self._batch.column(name), " ") for name in COLUMNS)
        pairs = pc.binary_join_element_wise(*joined, "\n")
        blake2b = hashlib.blake2b
        return [blake2b(pair, digest_size=DIGEST).digest() for pair in pairs.cast(pa.binary()).to_pylist()]
