"""The filter `ratio`: drop pairs whose sides differ too much in length."""

import numpy as np

from nmtcore.config.filters import RatioSettings
from nmtcore.corpus.filters.view import COLUMNS, Situation, View


class Filter:
    """Drops pairs whose longer side has more than `most` times as many words as the shorter."""

    columns = COLUMNS

    def __init__(self, settings: RatioSettings, situation: Situation) -> None:
        self._most = settings.most

    def drops(self, view: View) -> np.ndarray:
        """Return which pairs of a batch to drop."""
        return np.maximum(*view.lengths) > self._most * np.minimum(*view.lengths)
