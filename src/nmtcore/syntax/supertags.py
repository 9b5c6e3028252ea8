"""Dependency supertags as in Aycock 2021, Table 2.1: a word's relation to its head, as one string.

DG-A is `deprel|parent's deprel`, with `root` for the parent of a root: `xcomp|root`, `root|root`.

DG-B (after Ouchi et al. 2014) is `deprel|side of the head|sides of the dependents`. Sides are L, R and L+R; an empty
part is omitted: `xcomp|L|L+R`, `nsubj|R` without dependents, `root|L+R` for a root (no head), `root` for a root without
dependents. So in label sets other than UD, where roots share labels with other words, a root with dependents on its
left has the same tag as a word without dependents whose head is on its left.

Labels keep their subtypes (`nsubj:pass`). Several roots and crossing edges are allowed.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from nmtcore.syntax.trees import GOVERNOR_OF_ROOT, governors_among_all

ROOT_PARENT = "root"
"""The label of a root's parent in DG-A."""

_HEAD_SIDES = ("", "|L", "|R")
_DEPENDENT_SIDES = ("", "|L", "|R", "|L+R")


class WordTags(NamedTuple):
    """One tag per word."""

    codes_W: np.ndarray
    """Indices into `strings`, int64."""
    strings: list[str]
    """The distinct tags."""


def dg_a_codes(heads_W: np.ndarray, deprels_W: np.ndarray, lengths_B: np.ndarray, *, labels: Sequence[str]) -> WordTags:
    """Compute the DG-A tags of all words of B sentences. Raises ValueError if a head is out of range.

    Args:
        heads_W: heads of all words, one sentence after the other; 1-based, 0 = root.
        deprels_W: indices into `labels`.
        lengths_B: words per sentence.
        labels: the dependency labels.
    """
    governors_W = governors_among_all(heads_W, lengths_B)
    parent_labels = [*labels, ROOT_PARENT]
    parents_W = np.append(deprels_W, len(labels))[governors_W]  # the governor of a root is -1: the last entry
    combinations_W = deprels_W.astype(np.int64) * len(parent_labels) + parents_W
    return _number_tags(
        combinations_W, lambda code: "|".join(parent_labels[k] for k in divmod(code, len(parent_labels)))
    )


def dg_b_codes(heads_W: np.ndarray, deprels_W: np.ndarray, lengths_B: np.ndarray, *, labels: Sequence[str]) -> WordTags:
    """Compute the DG-B tags of all words of B sentences; arguments and errors are as for `dg_a_codes`."""
    governors_W = governors_among_all(heads_W, lengths_B)
    words_W = np.arange(len(governors_W))
    left_W, right_W = np.zeros((2, len(governors_W)), dtype=np.int64)
    has_head_W = governors_W != GOVERNOR_OF_ROOT
    left_W[governors_W[has_head_W & (words_W < governors_W)]] = 1
    right_W[governors_W[has_head_W & (words_W > governors_W)]] = 1
    head_side_W = np.where(has_head_W, np.where(governors_W < words_W, 1, 2), 0)
    combinations_W = (deprels_W.astype(np.int64) * 3 + head_side_W) * 4 + left_W + 2 * right_W
    return _number_tags(
        combinations_W, lambda code: labels[code // 12] + _HEAD_SIDES[code // 4 % 3] + _DEPENDENT_SIDES[code % 4]
    )


def _number_tags(combinations_W: np.ndarray, tag_of: Callable[[int], str]) -> WordTags:
    """Number the tags of the words' combinations; combinations with the same tag string share a number."""
    occurring, numbers_W = np.unique(combinations_W, return_inverse=True)
    strings: dict[str, int] = {}
    codes = [strings.setdefault(tag_of(code), len(strings)) for code in occurring.tolist()]
    return WordTags(np.array(codes, dtype=np.int64)[numbers_W], list(strings))
