"""A head that points from each word to its governor (pham2018, section 4.1)."""

import numpy as np

from nmtcore.features.examples import Examples
from nmtcore.model.arrays import Arrays
from nmtcore.model.components.parser_head import ParserHead
from nmtcore.segmentation.vocabulary import ROOT_ID

ROOT_COLUMN = 0
"""Where `<ROOT>` stands in every source."""


class DepParse(ParserHead):
    """`<ROOT>` before the source is the governor of the roots; words without annotation are not supervised."""

    source_prefix = (ROOT_ID,)
    points_to_root = True

    def pointed_to(self, arrays: Arrays, examples: Examples) -> np.ndarray | None:
        """Point to the governor's first piece."""
        return self.governor_columns(arrays, examples, of_root=ROOT_COLUMN)

    def word_scores(self, log_SS: np.ndarray, first_W: np.ndarray) -> np.ndarray:
        """Score `<ROOT>`, then the words."""
        return log_SS[np.ix_(first_W, np.concatenate([[ROOT_COLUMN], first_W]))]
