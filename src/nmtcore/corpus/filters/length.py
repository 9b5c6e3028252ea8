"""Pairs with a side that is too short or too long."""

import numpy as np

from nmtcore.config.filters import LengthSettings
from nmtcore.corpus.filters.view import COLUMNS, Situation, View


class Filter:
    """Drops them; both limits are allowed lengths."""

    columns = COLUMNS

    def __init__(self, settings: LengthSettings, situation: Situation) -> None:
        self._settings = settings

    def drops(self, view: View) -> np.ndarray:
        """Say which pairs of the batch it drops."""
        shorter, longer = np.minimum(*view.lengths), np.maximum(*view.lengths)
        return (shorter < self._settings.least) | (longer > self._settings.most)
