"""The filter `empty`: drop pairs with a side without words."""

import numpy as np

from nmtcore.config.filters import EmptySettings
from nmtcore.corpus.filters.pair_batch import COLUMNS, FilterContext, PairBatch


class Filter:
    """Drops pairs with a side without words."""

    columns = COLUMNS

    def __init__(self, settings: EmptySettings, context: FilterContext) -> None:
        pass

    def drops(self, batch: PairBatch) -> np.ndarray:
        """Return which pairs of a batch to drop."""
        source, target = batch.lengths
        return (source == 0) | (target == 0)
