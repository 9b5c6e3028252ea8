"""The filter `empty`: drop pairs with a side without words."""

import numpy as np

from nmtcore.config.filters import EmptySettings
from nmtcore.corpus.filters.view import COLUMNS, Situation, View


class Filter:
    """Drops pairs with a side without words."""

    columns = COLUMNS

    def __init__(self, settings: EmptySettings, situation: Situation) -> None:
        pass

    def drops(self, view: View) -> np.ndarray:
        """Return which pairs of a batch to drop."""
        source, target = view.lengths
        return (source == 0) | (target == 0)
