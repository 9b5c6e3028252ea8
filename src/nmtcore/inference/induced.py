"""Trees read off scores between words that nobody trained to be a parse (tran2018, section 5)."""

from typing import Literal

import numpy as np

from nmtcore.syntax.spanning_tree import maximum_spanning_tree


def induced_heads(scores_WW: np.ndarray, *, heads: Literal["rows", "columns"]) -> np.ndarray:
    """Give the best tree with one root: heads (W,), int64, 1-based, 0 for the root.

    Cell (a, b) says how well a is the head of b where `heads` is "rows" (tran2018), or b that of a where it is
    "columns" (a head of attention looks from a word to its governor); the diagonal scores the root either way.
    """
    if not len(scores_WW):
        return np.zeros(0, dtype=np.int64)
    of_dependents_WW = scores_WW.T if heads == "rows" else scores_WW
    return maximum_spanning_tree(np.column_stack([np.diagonal(scores_WW), of_dependents_WW]), single_root=True)
