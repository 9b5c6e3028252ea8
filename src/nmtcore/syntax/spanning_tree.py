"""The best dependency tree for a matrix of scores: Chu and Liu 1965, Edmonds 1967."""

from typing import NamedTuple

import numpy as np

_NEVER = np.int64(-(2**60))


class _Weights(NamedTuple):
    """Weights that are compared first by `level`, then by `score`; row = dependent, column = head, node 0 = root.

    The algorithm only adds, subtracts and compares weights, so pairs do as well as numbers. "As few roots as possible"
    is a level of its own: taken as a large constant from the scores, it would cost them their last digits.
    """

    level: np.ndarray
    score: np.ndarray


class _Contraction(NamedTuple):
    """How a graph became one in which every cycle is a single node."""

    group: np.ndarray
    """(nodes,) the new node of every old one."""
    heads: np.ndarray
    """(nodes,) each old node's best head."""
    head_in: np.ndarray
    """(old nodes, new nodes) which old node of the new one is the best head for the old one."""
    entry: np.ndarray
    """(new nodes, new nodes) at which of its old nodes the new node (row) is best entered from another (column)."""


def maximum_spanning_tree(scores: np.ndarray, *, single_root: bool) -> np.ndarray:
    """Give every word the head that makes the sum of scores largest among all (also non-projective) trees.

    Args:
        scores: (n, n + 1), row = dependent, column 0 = the root, column j = word j; a word's own column is not read.
            -inf is an edge that is taken only where no tree can do without; NaN and +inf are a `ValueError`.
        single_root: exactly one word hangs from the root (UD); otherwise one or more do (CzEng, PDT).

    Returns:
        Heads (n,), 1-based, 0 = root. Exact; of equally good trees always the same one. O(n^3) at worst, and
        usually near O(n^2).
    """
    scores = np.asarray(scores, dtype=np.float64)
    if single_root:
        # Keeping roots few costs a contraction after another; most often the best tree has one anyway.
        heads = maximum_spanning_tree(scores, single_root=False)
        if np.count_nonzero(heads == 0) == 1:
            return heads
    weights = _weights(scores, single_root=single_root)
    contractions: list[_Contraction] = []
    heads = _best_heads(weights)
    while cycles := _cycles(heads):
        contraction, weights = _contract(weights, heads, cycles)
        contractions.append(contraction)
        heads = _best_heads(weights)
    for contraction in reversed(contractions):
        heads = _expand(contraction, heads)
    return heads[1:]


def _weights(scores: np.ndarray, *, single_root: bool) -> _Weights:
    if scores.ndim != 2 or scores.shape[1] != scores.shape[0] + 1:
        raise ValueError(f"scores are (n, n + 1), not {scores.shape}")
    n = len(scores)
    own = np.eye(n, n + 1, k=1, dtype=bool)
    if np.any(np.isnan(scores[~own])) or np.any(scores[~own] == np.inf):
        raise ValueError("scores are NaN or +inf")
    level = np.full((n + 1, n + 1), _NEVER)
    score = np.zeros((n + 1, n + 1))
    forbidden = ~own & np.isneginf(scores)
    level[1:] = np.where(own, _NEVER, -forbidden.astype(np.int64))
    if single_root:
        level[1:, 0] -= n + 1
    score[1:] = np.where(own | forbidden, 0.0, scores)
    return _Weights(level, score)


def _best(weights: _Weights, *, axis: int) -> np.ndarray:
    """Find where the largest weight along `axis` is (the first, where several are)."""
    largest = weights.level.max(axis=axis, keepdims=True)
    return np.where(weights.level == largest, weights.score, -np.inf).argmax(axis=axis)


def _best_heads(weights: _Weights) -> np.ndarray:
    """Give each node (nodes,) its best head; node 0 has none and gets 0."""
    heads = _best(weights, axis=1)
    heads[0] = 0
    return heads


def _cycles(heads: np.ndarray) -> list[np.ndarray]:
    """Find the cycles among `heads`, each as the indices of its nodes."""
    cycles: list[np.ndarray] = []
    heads = heads.tolist()
    seen = [-1] * len(heads)
    seen[0] = 0
    for start in range(1, len(heads)):
        node = start
        while seen[node] < 0:
            seen[node] = start
            node = heads[node]
        if node != 0 and seen[node] == start:
            cycle = [node]
            while heads[cycle[-1]] != node:
                cycle.append(heads[cycle[-1]])
            cycles.append(np.array(sorted(cycle)))
    return cycles


def _contract(weights: _Weights, heads: np.ndarray, cycles: list[np.ndarray]) -> tuple[_Contraction, _Weights]:
    nodes = np.arange(len(heads))
    level, score = (w.copy() for w in weights)
    outside = np.ones(len(heads), bool)
    for cycle in cycles:
        outside[cycle] = False
        # Entering the cycle at a node costs that node its head in the cycle.
        level[cycle] -= level[cycle, heads[cycle]][:, None]
        score[cycle] -= score[cycle, heads[cycle]][:, None]
    members = [*nodes[outside][:, None], *cycles]
    group = np.empty(len(heads), np.int64)
    for new, old in enumerate(members):
        group[old] = new
    head_in = _choose(_Weights(level, score), members, axis=1)
    narrow = _Weights(*(w[nodes[:, None], head_in] for w in (level, score)))
    entry = _choose(narrow, members, axis=0)
    columns = np.arange(len(members))
    level, score = (w[entry, columns] for w in narrow)
    level[columns, columns] = _NEVER
    score[columns, columns] = 0
    return _Contraction(group, heads, head_in, entry), _Weights(level, score)


def _choose(weights: _Weights, members: list[np.ndarray], *, axis: int) -> np.ndarray:
    """Find, for each new node, its old node of largest weight: the result has a new node where `axis` had old ones."""
    chosen = []
    for old in members:
        if len(old) == 1:
            chosen.append(np.full(weights.level.shape[1 - axis], old[0]))
        else:
            part = _Weights(*(w.take(old, axis=axis) for w in weights))
            chosen.append(old[_best(part, axis=axis)])
    return np.stack(chosen, axis=axis)


def _expand(contraction: _Contraction, heads: np.ndarray) -> np.ndarray:
    """Turn heads of new nodes into heads of old ones: every cycle is broken where it is entered."""
    expanded = contraction.heads.copy()
    new = np.arange(1, len(heads))
    entered = contraction.entry[new, heads[new]]
    expanded[entered] = contraction.head_in[entered, heads[new]]
    return expanded
