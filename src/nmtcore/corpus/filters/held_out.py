"""The filter `held_out`: drop training pairs that occur in another split of the data set."""

import numpy as np

from nmtcore.config.filters import HeldOutSettings
from nmtcore.corpus.filters.pair_batch import COLUMNS, FilterContext, PairBatch
from nmtcore.parquet import read_batches


class Filter:
    """Drops pairs whose words on both sides, compared by their hash, are those of a pair in another split."""

    columns = COLUMNS

    def __init__(self, settings: HeldOutSettings, context: FilterContext) -> None:
        self._held_out: set[bytes] = set()
        for path in context.others.values():
            for batch in read_batches(path, columns=list(COLUMNS)):
                self._held_out.update(PairBatch(batch).digests)

    def drops(self, batch: PairBatch) -> np.ndarray:
        """Return which pairs of a batch to drop."""
        return np.fromiter((digest in self._held_out for digest in batch.digests), dtype=bool, count=len(batch))
