"""Pairs with a side that has no word."""

import numpy as np

from nmtcore.config.filters import EmptySettings
from nmtcore.corpus.filters.view import COLUMNS, Situation, View


class Filter:
    """Drops them."""

    columns = COLUMNS

    def __init__(self, settings: EmptySettings, situation: Situation) -> None:
        pass

    def drops(self, view: View) -> np.ndarray:
        """Say which pairs of the batch it drops."""
        source, target = view.lengths
        return (source == 0) | (target == 0)
