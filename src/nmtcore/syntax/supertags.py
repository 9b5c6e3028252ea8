"""Dependency supertags as in Aycock 2021, Table 2.1: a word's relation to its head, as one string.

DG-A is `deprel|parent's deprel`, with `root` for the parent of a root: `xcomp|root`, `root|root`.

DG-B (after Ouchi et al. 2014) is `deprel|side of the head|sides of the dependents`. Sides are L, R and L+R; an empty
part is omitted: `xcomp|L|L+R`, `nsubj|R` without dependents, `root|L+R` for a root (no head), `root` for a root without
dependents. So in label sets other than UD, where roots share labels with other words, a root with dependents on its
left has the same tag as a word without dependents whose head is on its left.

Labels keep their subtypes (`nsubj:pass`). Several roots and crossing edges are allowed.
"""

from collections.abc import Sequence

from nmtcore.syntax.trees import HEAD_OF_ROOT, check_heads

ROOT_PARENT = "root"
"""The label of a root's parent in DG-A."""


def dg_a(heads: Sequence[int], deprels: Sequence[str]) -> list[str]:
    """Compute the DG-A tag of each word of a sentence.

    Heads are 1-based, 0 = root. Raises ValueError if a head is out of range or there is not one label for each head.
    """
    _check(heads, deprels)
    parents = [ROOT_PARENT, *deprels]
    return [f"{deprel}|{parents[head]}" for head, deprel in zip(heads, deprels, strict=True)]


def dg_b(heads: Sequence[int], deprels: Sequence[str]) -> list[str]:
    """Compute the DG-B tag of each word of a sentence; arguments and errors are as for `dg_a`."""
    _check(heads, deprels)
    has_left = {head for word, head in enumerate(heads, start=1) if word < head}
    has_right = {head for word, head in enumerate(heads, start=1) if word > head}
    tags = []
    for word, (head, deprel) in enumerate(zip(heads, deprels, strict=True), start=1):
        head_side = "" if head == HEAD_OF_ROOT else "L" if head < word else "R"
        dependent_sides = "+".join(["L"] * (word in has_left) + ["R"] * (word in has_right))
        tags.append("|".join(filter(None, (deprel, head_side, dependent_sides))))
    return tags


def _check(heads: Sequence[int], deprels: Sequence[str]) -> None:
    check_heads(heads)
    if len(heads) != len(deprels):
        raise ValueError(f"{len(heads)} heads and {len(deprels)} labels")
