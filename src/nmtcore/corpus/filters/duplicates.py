"""The filter `duplicates`: drop all but the first of equal pairs.

Each pair is represented by a record with its 128-bit hash and its row. Equal records are found by sorting. If the
records do not fit into the memory budget, they are distributed over files (buckets) by their hash, so that equal pairs
share a bucket and each bucket fits. Memory does not grow with the corpus.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from weakref import finalize

import numpy as np

from nmtcore.config.filters import DuplicatesSettings
from nmtcore.corpus.filters.pair_batch import COLUMNS, DIGEST, FilterContext, PairBatch
from nmtcore.files import new_folder

RECORD = np.dtype([("high", "<u8"), ("low", "<u8"), ("row", "<i8")])
WORKING_BYTES = 3 * RECORD.itemsize
"""Memory per record while its bucket is sorted: the record, its entry in the order, and its sorted copy."""
MAX_BUCKETS = 512


class Filter:
    """Collects the pairs that no earlier filter dropped; `late_drops` finds the repeated ones."""

    columns = COLUMNS

    def __init__(self, settings: DuplicatesSettings, context: FilterContext) -> None:
        buckets = -(-context.rows * WORKING_BYTES // max(context.budget_bytes, 1))
        self._buckets = min(max(buckets, 1), MAX_BUCKETS)
        self._memory: list[np.ndarray] = []
        self._folder: Path | None = None
        if self._buckets > 1:
            self._folder = new_folder(context.folder / "duplicates")
            self._delete = finalize(self, shutil.rmtree, self._folder, ignore_errors=True)  # also after an error

    def drops(self, batch: PairBatch) -> np.ndarray:
        """Record the pairs of a batch; drop none yet."""
        rows = np.flatnonzero(batch.alive)
        records = np.empty(len(rows), dtype=RECORD)
        digests = np.frombuffer(b"".join(batch.digests), dtype="<u8").reshape(-1, DIGEST // 8)[rows]
        records["high"], records["low"], records["row"] = digests[:, 0], digests[:, 1], rows + batch.first
        if self._folder is None:
            self._memory.append(records)
        else:
            self._spill(records)
        return np.zeros(len(batch), dtype=bool)

    def late_drops(self) -> Iterator[np.ndarray]:
        """Yield the rows to drop, one array per bucket."""
        if self._folder is None:
            yield repeated_rows(np.concatenate(self._memory or [np.empty(0, dtype=RECORD)]))
            return
        for bucket in range(self._buckets):
            if self._path(bucket).exists():
                yield repeated_rows(np.fromfile(self._path(bucket), dtype=RECORD))
        self._delete()

    def _spill(self, records: np.ndarray) -> None:
        buckets = (records["high"] % np.uint64(self._buckets)).astype(np.int64)
        records = records[np.argsort(buckets, kind="stable")]
        ends = np.cumsum(np.bincount(buckets, minlength=self._buckets))
        for bucket, part in enumerate(np.split(records, ends[:-1])):
            if len(part):
                with self._path(bucket).open("ab") as file:
                    file.write(part.data)  # unlike `tofile`, it says why it fails

    def _path(self, bucket: int) -> Path:
        return self._folder / f"{bucket}.records"


def repeated_rows(records: np.ndarray) -> np.ndarray:
    """Return the rows of all records except the first with each hash. Records must be in row order."""
    order = np.lexsort((records["low"], records["high"]))  # stable, so records with equal hashes stay in row order
    high, low = records["high"][order], records["low"][order]
    repeated = (high[1:] == high[:-1]) & (low[1:] == low[:-1])
    return records["row"][order[1:][repeated]]
