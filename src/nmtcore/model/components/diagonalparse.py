"""A head that points from each word to the previous one: the control for `depparse` (pham2018, section 6.3)."""

import numpy as np

from nmtcore.features.examples import Examples
from nmtcore.model.arrays import Arrays
from nmtcore.model.components.parser_head import ParserHead
from nmtcore.syntax.trees import NO_COLUMN


class DiagonalParse(ParserHead):
    """The first word points to itself, and counts; no annotation is read."""

    def pointed_to(self, arrays: Arrays, examples: Examples) -> np.ndarray | None:
        """Point to the previous word's first piece."""
        first_BW = arrays.first_BW
        previous_BW = np.concatenate([first_BW[:, :1], first_BW[:, :-1]], axis=1)
        return np.where(first_BW == NO_COLUMN, NO_COLUMN, previous_BW)
