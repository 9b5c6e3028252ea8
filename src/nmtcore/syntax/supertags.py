"""Dependency supertags, as in Aycock 2021, Table 2.1: what a word is to its head, as one string.

DG-A is `deprel|parent's deprel`, with `root` for the parent of a root: `xcomp|root`, `root|root`.

DG-B (after Ouchi et al. 2014) is `deprel|side of the head|sides of the dependents`; sides are L, R and L+R, and a part
that there is nothing to say in is left out: `xcomp|L|L+R`, without dependents `nsubj|R`, a root (no head side)
`root|L+R`, a root alone in its sentence `root`. Where labels are not those of UD and roots share theirs with other
words, a root with dependents on its left and a childless word with its head there are therefore one tag.

Labels keep their subtypes (`nsubj:pass`). Several roots and crossing edges are as good as any tree.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from nmtcore.syntax.shape import governors_among_all
from nmtcore.syntax.trees import GOVERNOR_OF_ROOT

ROOT_PARENT = "root"
"""What stands for the label of a root's parent in DG-A."""

_HEAD_SIDES = ("", "|L", "|R")
_DEPENDENT_SIDES = ("", "|L", "|R", "|L+R")


class Tags(NamedTuple):
    """A tag for each of W words."""

    codes: np.ndarray
    """(W,) int64, indices of `strings`."""
    strings: list[str]
    """Every tag that occurs, once."""


def dg_a_codes(heads: np.ndarray, deprels: np.ndarray, lengths: np.ndarray, *, labels: Sequence[str]) -> Tags:
    """Give the words of N sentences their DG-A tags, all at once.

    Args:
        heads: (W,) heads of all words, one sentence after the other; 1-based, 0 = root. Out of range: `ValueError`.
        deprels: (W,) indices of `labels`.
        lengths: (N,) words of each sentence.
        labels: the dependency labels.
    """
    governors = governors_among_all(heads, lengths)
    labels = list(labels)
    top = len(labels)
    is_root = governors == GOVERNOR_OF_ROOT
    of_parent = np.where(is_root, top, deprels[np.maximum(governors, 0)]) if len(governors) else governors
    pairs = deprels.astype(np.int64) * (top + 1) + of_parent
    names = [*labels, ROOT_PARENT]
    return _tags(pairs, lambda pair: f"{labels[pair // (top + 1)]}|{names[pair % (top + 1)]}")


def dg_b_codes(heads: np.ndarray, deprels: np.ndarray, lengths: np.ndarray, *, labels: Sequence[str]) -> Tags:
    """Give the words of N sentences their DG-B tags, all at once; arguments as for `dg_a_codes`."""
    governors = governors_among_all(heads, lengths)
    words = np.arange(len(governors))
    left, right = np.zeros((2, len(governors)), dtype=np.int64)
    has_head = governors != GOVERNOR_OF_ROOT
    left[governors[has_head & (words < governors)]] = 1
    right[governors[has_head & (words > governors)]] = 1
    head_side = np.where(has_head, np.where(governors < words, 1, 2), 0)
    combined = (deprels.astype(np.int64) * 3 + head_side) * 4 + left + 2 * right
    return _tags(combined, lambda code: labels[code // 12] + _HEAD_SIDES[code // 4 % 3] + _DEPENDENT_SIDES[code % 4])


def _tags(combined: np.ndarray, name: Callable[[int], str]) -> Tags:
    """Number the combinations that occur, and write each as `name` does; those that read the same are one."""
    if len(combined) == 0:
        return Tags(np.zeros(0, dtype=np.int64), [])
    # Few labels: a table of all combinations is faster than sorting the words.
    if combined.max() < 4 * len(combined) + 1_000_000:
        found = np.flatnonzero(np.bincount(combined))
        number = np.empty(int(combined.max()) + 1, dtype=np.int64)
        number[found] = np.arange(len(found))
        codes = number[combined]
    else:
        found, codes = np.unique(combined, return_inverse=True)
    strings: dict[str, int] = {}
    merged = np.array([strings.setdefault(name(code), len(strings)) for code in found.tolist()], dtype=np.int64)
    return Tags(merged[codes], list(strings))
