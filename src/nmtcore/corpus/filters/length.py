"""The filter `length`: drop pairs with a side that is too short or too long."""

import numpy as np

from nmtcore.config.filters import LengthSettings
from nmtcore.corpus.filters.pair_batch import COLUMNS, FilterContext, PairBatch


class Filter:
    """Drops pairs with a side of fewer than `least` or more than `most` words."""

    columns = COLUMNS

    def __init__(self, settings: LengthSettings, context: FilterContext) -> None:
        self._settings = settings

    def drops(self, batch: PairBatch) -> np.ndarray:
        """Return which pairs of a batch to drop."""
        shorter, longer = np.minimum(*batch.lengths), np.maximum(*batch.lengths)
        return (shorter < self._settings.least) | (longer > self._settings.most)
