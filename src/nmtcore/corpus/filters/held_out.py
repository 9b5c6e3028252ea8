"""Training pairs that occur in another split of the data set."""

import numpy as np

from nmtcore.config.filters import HeldOutSettings
from nmtcore.corpus.filters.view import COLUMNS, Situation, View
from nmtcore.parquet import read_batches


class Filter:
    """Drops them, comparing the words of both sides by their hashes."""

    columns = COLUMNS

    def __init__(self, settings: HeldOutSettings, situation: Situation) -> None:
        self._known: set[bytes] = set()
        for path in situation.others.values():
            for batch in read_batches(path, columns=list(COLUMNS)):
                self._known.update(View(batch).digests)

    def drops(self, view: View) -> np.ndarray:
        """Say which pairs of the batch it drops."""
        return np.fromiter((digest in self._known for digest in view.digests), dtype=bool, count=len(view))
