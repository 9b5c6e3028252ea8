"""The maximum spanning tree of a score matrix: Chu and Liu 1965, Edmonds 1967.

Cycles are found and contracted one at a time, along a path of best heads (Gabow et al. 1986). A step of the path reads
one row, a contraction only the rows and columns of its cycle, so the whole search takes O(n^2) time.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nmtcore.syntax.trees import HEAD_OF_ROOT

_NEVER = np.int64(-(2**60))


class _Weights(NamedTuple):
    """Edge weights, compared first by `level`, then by `score`; row = dependent, column = head, node 0 = root.

    The algorithm only adds, subtracts and compares weights, so it works on pairs as well. "As few roots as possible" is
    a level: subtracting a large constant from the scores instead would cost their last digits.
    """

    level: np.ndarray
    score: np.ndarray


def maximum_spanning_tree(scores_WU: np.ndarray, *, single_root: bool) -> np.ndarray:
    """Find the tree, projective or not, with the largest sum of scores.

    Args:
        scores_WU: row = dependent, column 0 = the root, column j = word j; a word's own column is ignored. An edge of
            score -inf is used only if every tree needs one. Raises ValueError for NaN and +inf.
        single_root: exactly one word is a root (UD); otherwise one or more are (CzEng, PDT).

    Returns:
        The heads (W,), 1-based, 0 = root. The result is exact, and deterministic among equally good trees. O(W^2).
    """
    weights = _edge_weights(np.asarray(scores_WU, dtype=np.float64), single_root=single_root)
    graph = _Graph(weights)
    for slot in range(1, len(weights.level)):
        graph.settle(slot)
    return graph.heads()


def _edge_weights(scores_WU: np.ndarray, *, single_root: bool) -> _Weights:
    if scores_WU.ndim != 2 or scores_WU.shape[1] != scores_WU.shape[0] + 1:
        raise ValueError(f"scores must have shape (n, n + 1), not {scores_WU.shape}")
    words = len(scores_WU)
    own_WU = np.eye(words, words + 1, k=1, dtype=bool)
    if np.any(np.isnan(scores_WU[~own_WU])) or np.any(scores_WU[~own_WU] == np.inf):
        raise ValueError("scores must not be NaN or +inf")
    level_UU = np.full((words + 1, words + 1), _NEVER)
    score_UU = np.zeros((words + 1, words + 1))
    forbidden_WU = ~own_WU & np.isneginf(scores_WU)
    level_UU[1:] = np.where(own_WU, _NEVER, -forbidden_WU.astype(np.int64))
    if single_root:
        level_UU[1:, HEAD_OF_ROOT] -= words + 1
    score_UU[1:] = np.where(own_WU | forbidden_WU, 0.0, scores_WU)
    return _Weights(level_UU, score_UU)


class _Graph:
    """A graph under contraction: each slot (row and column of the matrices) holds a node.

    Nodes 0..U-1 are the root and the words; contracted cycles get the following numbers. A contracted cycle takes the
    slot of its first node.
    """

    def __init__(self, weights: _Weights) -> None:
        self._level_UU, self._score_UU = weights
        size = len(self._level_UU)
        self._size = size
        # The dependent and the head (words) of the edge between two slots.
        self._dependent_UU = np.repeat(np.arange(size)[:, None], size, axis=1)
        self._head_UU = np.repeat(np.arange(size)[None, :], size, axis=0)
        self._node = list(range(size))  # the node in each slot
        self._cycle_of = [-1] * size  # the contracted cycle that contains each node; -1 if none does
        self._edge = [(0, 0)] * size  # the dependent and the head of the best edge into each node
        self._settled = [True] + [False] * (size - 1)  # slots whose heads lead to the root, and vacated slots

    def settle(self, slot: int) -> None:
        """Follow best heads from a slot to a settled slot, contracting the cycles on the way."""
        path: list[int] = []
        on_path: set[int] = set()
        while not self._settled[slot]:
            if slot in on_path:
                cycle = path[path.index(slot) :]
                del path[-len(cycle) :]
                on_path.difference_update(cycle)
                slot = self._contract(cycle)
            path.append(slot)
            on_path.add(slot)
            slot = self._best_head(slot)
        for slot in path:
            self._settled[slot] = True

    def _best_head(self, slot: int) -> int:
        level_U = self._level_UU[slot]
        head = int(np.where(level_U == level_U.max(), self._score_UU[slot], -np.inf).argmax())
        self._edge[self._node[slot]] = int(self._dependent_UU[slot, head]), int(self._head_UU[slot, head])
        return head

    def _contract(self, cycle: Sequence[int]) -> int:
        """Contract a cycle, in which each slot's best head is the next slot, into a node in its first slot."""
        slot, node, heads = cycle[0], len(self._cycle_of), [*cycle[1:], cycle[0]]
        for member in cycle:
            self._cycle_of[self._node[member]] = node
            self._settled[member] = member != slot
        self._cycle_of.append(-1)
        self._edge.append((0, 0))
        self._node[slot] = node
        columns_U = np.arange(self._size)
        # An edge into the cycle replaces the head, within the cycle, of the node that it enters.
        level = self._level_UU[cycle] - self._level_UU[cycle, heads][:, None]
        score = self._score_UU[cycle] - self._score_UU[cycle, heads][:, None]
        entry_U = _argmax(_Weights(level, score), axis=0)
        entered_U = np.asarray(cycle)[entry_U]
        row = (
            level[entry_U, columns_U],
            score[entry_U, columns_U],
            self._dependent_UU[entered_U, columns_U],
            self._head_UU[entered_U, columns_U],
        )
        exit_U = np.asarray(cycle)[_argmax(_Weights(self._level_UU[:, cycle], self._score_UU[:, cycle]), axis=1)]
        matrices_UU = (self._level_UU, self._score_UU, self._dependent_UU, self._head_UU)
        for matrix_UU, values_U in zip(matrices_UU, row, strict=True):
            matrix_UU[:, slot] = matrix_UU[columns_U, exit_U]
            matrix_UU[slot] = values_U
        self._level_UU[:, cycle[1:]] = _NEVER
        self._level_UU[slot, cycle] = _NEVER
        return slot

    def heads(self) -> np.ndarray:
        """Expand the cycles, the last first, breaking each where its best edge enters it; return the heads (W,)."""
        for node in range(len(self._cycle_of) - 1, self._size - 1, -1):
            entered = self._edge[node][0]
            while self._cycle_of[entered] != node:
                entered = self._cycle_of[entered]
            self._edge[entered] = self._edge[node]
        return np.array([head for _, head in self._edge[1 : self._size]], dtype=np.int64)


def _argmax(weights: _Weights, *, axis: int) -> np.ndarray:
    """Return the index of the largest weight along `axis`, the first if several are largest."""
    largest = weights.level.max(axis=axis, keepdims=True)
    return np.where(weights.level == largest, weights.score, -np.inf).argmax(axis=axis)
