"""Pairs whose sides are of too unequal length."""

import numpy as np

from nmtcore.config.filters import RatioSettings
from nmtcore.corpus.filters.view import COLUMNS, Situation, View


class Filter:
    """Drops pairs whose longer side has more than `most` times the words of the shorter."""

    columns = COLUMNS

    def __init__(self, settings: RatioSettings, situation: Situation) -> None:
        self._most = settings.most

    def drops(self, view: View) -> np.ndarray:
        """Say which pairs of the batch it drops."""
        return np.maximum(*view.lengths) > self._most * np.minimum(*view.lengths)
