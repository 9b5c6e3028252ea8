"""A head that points from each word to its governor (pham2018, section 4.1)."""

from collections.abc import Mapping

import numpy as np

from nmtcore.config.components.parser_head import DepParseSettings
from nmtcore.config.model import TransformerSettings
from nmtcore.features.examples import Examples
from nmtcore.model.arrays import Arrays
from nmtcore.model.components.parser_head import ParserHead
from nmtcore.segmentation.vocabulary import ROOT_ID
from nmtcore.syntax.trees import GOVERNOR_OF_ROOT, NO_COLUMN, NO_GOVERNOR

ROOT_COLUMN = 0
"""Where `<ROOT>` stands in every source."""


class DepParse(ParserHead):
    """`<ROOT>` before the source is the governor of the roots; words without annotation are not supervised."""

    source_prefix = (ROOT_ID,)
    points_to_root = True

    def pointed_to(self, arrays: Arrays, examples: Examples) -> np.ndarray | None:
        """Point to the governor's first piece."""
        governors = examples.source.syntax.get("governor")
        if governors is None:
            return None
        governor_BW = governors.padded(fill=NO_GOVERNOR, width=arrays.first_BW.shape[1]).astype(np.int64)
        columns_BW = np.take_along_axis(arrays.first_BW, np.maximum(governor_BW, 0), axis=1)
        columns_BW[governor_BW == GOVERNOR_OF_ROOT] = ROOT_COLUMN
        columns_BW[governor_BW == NO_GOVERNOR] = NO_COLUMN
        return columns_BW

    def word_scores(self, log_SS: np.ndarray, first_W: np.ndarray) -> np.ndarray:
        """Score `<ROOT>`, then the words."""
        return log_SS[np.ix_(first_W, np.concatenate([[ROOT_COLUMN], first_W]))]


def build(
    settings: DepParseSettings, model: TransformerSettings, labels: Mapping | None = None, *, name: str = "depparse"
) -> DepParse:
    """Make the component."""
    return DepParse(settings, name)
