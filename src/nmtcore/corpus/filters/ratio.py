"""The filter `ratio`: drop pairs whose sides differ too much in length."""

import numpy as np

from nmtcore.config.filters import RatioSettings
from nmtcore.corpus.filters.pair_batch import COLUMNS, FilterContext, PairBatch


class Filter:
    """Drops pairs whose longer side has more than `most` times as many words as the shorter."""

    columns = COLUMNS

    def __init__(self, settings: RatioSettings, context: FilterContext) -> None:
        self._most = settings.most

    def drops(self, batch: PairBatch) -> np.ndarray:
        """Return which pairs of a batch to drop."""
        return np.maximum(*batch.lengths) > self._most * np.minimum(*batch.lengths)
