"""A head that points from each word to the previous one, as a control for `depparse` (pham2018, section 6.3)."""

import numpy as np

from nmtcore.model.arrays import SideArrays
from nmtcore.model.components.parser_head import ParserHead
from nmtcore.syntax.trees import NO_COLUMN


class DiagonalParse(ParserHead):
    r"""Supervises all words, without any annotation; the first word points to itself.

    In words (pham2018, section 4.2, which has no equation of its own):

    .. math::

        g(i) = \max(1, i - 1)
    """

    def first_subword_targets(self, source: SideArrays) -> np.ndarray | None:
        """Return the column of the previous word's first subword."""
        first_BW = source.first_subword_BW
        previous_BW = np.concatenate([first_BW[:, :1], first_BW[:, :-1]], axis=1)
        return np.where(first_BW == NO_COLUMN, NO_COLUMN, previous_BW)
