"""A head that points from each word to its governor (pham2018, section 4.1)."""

import numpy as np

from nmtcore.model.arrays import SideArrays
from nmtcore.model.components.parser_head import ParserHead
from nmtcore.segmentation.vocabulary import ROOT_ID

ROOT_COLUMN = 0
"""The column of `<ROOT>` in every source."""


class DepParse(ParserHead):
    r"""Puts `<ROOT>` before the source as the governor of the roots. Words without annotation are not supervised.

    A word points to its governor (pham2018, section 4.1.2, which has no equation of its own):

    .. math::

        g(i) = \begin{cases}
            \text{the position of <ROOT>} & \text{if word } i \text{ is a root} \\
            \text{the first subword of the governor of } i & \text{otherwise}
        \end{cases}
    """

    source_prefix = (ROOT_ID,)
    points_to_root = True

    def first_subword_targets(self, source: SideArrays) -> np.ndarray | None:
        """Return the column of the governor's first subword."""
        return self.governor_columns(source, root_column=ROOT_COLUMN)

    def word_scores(self, log_SS: np.ndarray, first_W: np.ndarray) -> np.ndarray:
        """Return the scores of `<ROOT>`, then those of the words."""
        return log_SS[np.ix_(first_W, np.concatenate([[ROOT_COLUMN], first_W]))]
