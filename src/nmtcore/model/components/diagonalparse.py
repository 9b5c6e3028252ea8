"""A head that points from each word to the previous one, as a control for `depparse` (pham2018, section 6.3)."""

import numpy as np

from nmtcore.model.arrays import SideArrays
from nmtcore.model.components.parser_head import ParserHead
from nmtcore.syntax.trees import NO_COLUMN


class DiagonalParse(ParserHead):
    """Supervises all words, without any annotation; the first word points to itself."""

    def first_subword_targets(self, source: SideArrays) -> np.ndarray | None:
        """Return the column of the previous word's first subword."""
        first_BW = source.first_subword_BW
        previous_BW = np.concatenate([first_BW[:, :1], first_BW[:, :-1]], axis=1)
        return np.where(first_BW == NO_COLUMN, NO_COLUMN, previous_BW)
