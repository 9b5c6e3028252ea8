"""The filter `held_out`: drop training pairs that occur in another split of the data set."""

import numpy as np

from nmtcore.config.filters import HeldOutSettings
from nmtcore.corpus.filters.view import COLUMNS, Situation, View
from nmtcore.parquet import read_batches


class Filter:
    """Drops pairs whose words on both sides, compared by their hash, are those of a pair in another split."""

    columns = COLUMNS

    def __init__(self, settings: HeldOutSettings, situation: Situation) -> None:
        self._held_out: set[bytes] = set()
        for path in situation.others.values():
            for batch in read_batches(path, columns=list(COLUMNS)):
                self._held_out.update(View(batch).digests)

    def drops(self, view: View) -> np.ndarray:
        """Return which pairs of a batch to drop."""
        return np.fromiter((digest in self._held_out for digest in view.digests), dtype=bool, count=len(view))
