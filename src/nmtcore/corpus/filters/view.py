"""What filters see of a batch of pairs, computed at most once a batch."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

DIGEST = 16
"""Bytes of a pair's hash: among 10^10 different pairs, two agree with a probability below 10^-18."""
COLUMNS = ("source_words", "target_words")
"""What filters that compare words read."""


@dataclass(frozen=True, kw_only=True)
class Situation:
    """What a filter may want to know beforehand."""

    rows: int
    """Pairs before any filter."""
    others: dict[str, Path]
    """The raw files of the data set's other splits."""
    folder: Path
    """For temporary files, on the disk that the result goes to."""
    budget_bytes: int
    """Memory that a filter may take."""
    languages: Mapping[str, str]
    """The language code of each side."""


class View:
    """A batch of pairs, of which only the columns are there that the filters read.

    `first` is the number of its first row; `verdict` holds for every row the number (from 1) of the filter that dropped
    it, 0 for those that are left.
    """

    def __init__(self, batch: pa.RecordBatch, *, first: int = 0) -> None:
        self._batch = batch
        self.first = first
        self.verdict = np.zeros(batch.num_rows, dtype=np.uint8)

    def __len__(self) -> int:
        return self._batch.num_rows

    @property
    def alive(self) -> np.ndarray:
        """Say which rows no filter has dropped yet."""
        return self.verdict == 0

    def drop(self, number: int, dropped: np.ndarray) -> None:
        """Let the filter `number` drop the rows of a mask that are alive."""
        self.verdict[self.alive & dropped] = number

    def texts(self, column: str) -> list[str]:
        """Give the raw texts (`source`, `target`) of the rows that are alive."""
        return self._batch.column(column).filter(pa.array(self.alive)).to_pylist()

    @cached_property
    def lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """Give the number of words of each pair's sides, two int64 arrays."""
        source, target = (pc.list_value_length(self._batch.column(name)).to_numpy() for name in COLUMNS)
        return source.astype(np.int64), target.astype(np.int64)

    @cached_property
    def digests(self) -> list[bytes]:
        """Give a 128-bit hash of each pair's words.

        Words hold no space and no line break, so words joined by spaces and sides by a line break are unmistakable.
        """
        joined = (pc.binary_join(self._batch.column(name), " ") for name in COLUMNS)
        pairs = pc.binary_join_element_wise(*joined, "\n")
        blake2b = hashlib.blake2b
        return [blake2b(pair, digest_size=DIGEST).digest() for pair in pairs.cast(pa.binary()).to_pylist()]
