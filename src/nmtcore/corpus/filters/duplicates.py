"""All but the first of equal pairs.

Every pair is a record of its 128-bit hash and its row. Records are sorted, bucket by bucket: where they would not fit
into memory together, they are spread over files by their hash, so that equal pairs meet in one bucket and every bucket
fits. Memory is bounded by the budget, whatever the corpus.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from nmtcore.config.filters import DuplicatesSettings
from nmtcore.corpus.filters.view import COLUMNS, DIGEST, Situation, View

RECORD = np.dtype([("high", "<u8"), ("low", "<u8"), ("row", "<i8")])
WORKING_BYTES = 3 * RECORD.itemsize
"""Memory a record takes while its bucket is sorted: itself, the order, the sorted copy."""
MOST_BUCKETS = 512


class Filter:
    """Gathers the pairs that are alive when it is its turn; `late` tells which of them came before."""

    columns = COLUMNS

    def __init__(self, settings: DuplicatesSettings, situation: Situation) -> None:
        buckets = -(-situation.rows * WORKING_BYTES // max(situation.budget_bytes, 1))
        self._buckets = min(max(buckets, 1), MOST_BUCKETS)
        self._memory: list[np.ndarray] = []
        self._folder = None
        if self._buckets > 1:
            situation.folder.mkdir(parents=True, exist_ok=True)
            self._folder = TemporaryDirectory(dir=situation.folder, prefix=".duplicates.")

    def drops(self, view: View) -> np.ndarray:
        """Remember the batch; nothing is dropped yet."""
        rows = np.flatnonzero(view.alive)
        records = np.empty(len(rows), dtype=RECORD)
        digests = np.frombuffer(b"".join(view.digests), dtype="<u8").reshape(-1, DIGEST // 8)[rows]
        records["high"], records["low"], records["row"] = digests[:, 0], digests[:, 1], rows + view.first
        if self._folder is None:
            self._memory.append(records)
        else:
            self._spill(records)
        return np.zeros(len(view), dtype=bool)

    def late(self) -> Iterator[np.ndarray]:
        """Yield the rows to drop, a bucket at a time."""
        if self._folder is None:
            yield later_ones(np.concatenate(self._memory or [np.empty(0, dtype=RECORD)]))
            return
        with self._folder:
            for bucket in range(self._buckets):
                if self._path(bucket).exists():
                    yield later_ones(np.fromfile(self._path(bucket), dtype=RECORD))

    def _spill(self, records: np.ndarray) -> None:
        buckets = (records["high"] % np.uint64(self._buckets)).astype(np.int64)
        records = records[np.argsort(buckets, kind="stable")]
        ends = np.cumsum(np.bincount(buckets, minlength=self._buckets))
        for bucket, part in enumerate(np.split(records, ends[:-1])):
            if len(part):
                with self._path(bucket).open("ab") as file:
                    part.tofile(file)

    def _path(self, bucket: int) -> Path:
        return Path(self._folder.name) / f"{bucket}.records"


def later_ones(records: np.ndarray) -> np.ndarray:
    """Give the rows of all records that are not the first row of their hash. Records come in the order of rows."""
    order = np.lexsort((records["low"], records["high"]))  # stable, so equal hashes stay in the order of rows
    high, low = records["high"][order], records["low"][order]
    repeated = (high[1:] == high[:-1]) & (low[1:] == low[:-1])
    return records["row"][order[1:][repeated]]
