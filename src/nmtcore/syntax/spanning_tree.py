"""The best dependency tree for a matrix of scores: Chu and Liu 1965, Edmonds 1967.

Cycles are found and contracted one at a time, along a path of best heads (Gabow et al. 1986). A step looks at one row,
a contraction at the rows and columns of its cycle alone: O(n^2) together.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nmtcore.syntax.trees import HEAD_OF_ROOT

_NEVER = np.int64(-(2**60))


class _Weights(NamedTuple):
    """Weights that are compared first by `level`, then by `score`; row = dependent, column = head, node 0 = root.

    The algorithm only adds, subtracts and compares weights, so pairs do as well as numbers. "As few roots as possible"
    is a level of its own: taken as a large constant from the scores, it would cost them their last digits.
    """

    level: np.ndarray
    score: np.ndarray


def maximum_spanning_tree(scores: np.ndarray, *, single_root: bool) -> np.ndarray:
    """Give every word the head that makes the sum of scores largest among all (also non-projective) trees.

    Args:
        scores: (n, n + 1), row = dependent, column 0 = the root, column j = word j; a word's own column is not read.
            -inf is an edge that is taken only where no tree can do without; NaN and +inf are a `ValueError`.
        single_root: exactly one word hangs from the root (UD); otherwise one or more do (CzEng, PDT).

    Returns:
        Heads (n,), 1-based, 0 = root. Exact; of equally good trees always the same one. O(n^2).
    """
    weights = _weights(np.asarray(scores, dtype=np.float64), single_root=single_root)
    graph = _Graph(weights)
    for place in range(1, len(weights.level)):
        graph.settle(place)
    return graph.heads()


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
        level[1:, HEAD_OF_ROOT] -= n + 1
    score[1:] = np.where(own | forbidden, 0.0, scores)
    return _Weights(level, score)


class _Graph:
    """Words in their places; a cycle that was contracted stands in the place of one of its nodes.

    Nodes are the words and then the contracted cycles, numbered as they come.
    """

    def __init__(self, weights: _Weights) -> None:
        self._level, self._score = weights
        size = len(self._level)
        self._words = size
        # The words that an edge between two places is of: (size, size).
        self._dependent = np.repeat(np.arange(size)[:, None], size, axis=1)
        self._head = np.repeat(np.arange(size)[None, :], size, axis=0)
        self._node = list(range(size))  # of each place
        self._inside = [-1] * size  # the cycle that each node is in
        self._edge = [(0, 0)] * size  # the dependent and the head of the best edge into each node
        self._settled = [True] + [False] * (size - 1)  # places whose heads lead to the root, or that are no more

    def settle(self, place: int) -> None:
        """Follow best heads from a place to what is settled; cycles on the way become nodes."""
        path: list[int] = []
        passed: set[int] = set()
        while not self._settled[place]:
            if place in passed:
                cycle = path[path.index(place) :]
                del path[-len(cycle) :]
                passed.difference_update(cycle)
                place = self._contract(cycle)
            path.append(place)
            passed.add(place)
            place = self._best_head(place)
        for place in path:
            self._settled[place] = True

    def _best_head(self, place: int) -> int:
        level = self._level[place]
        head = int(np.where(level == level.max(), self._score[place], -np.inf).argmax())
        self._edge[self._node[place]] = int(self._dependent[place, head]), int(self._head[place, head])
        return head

    def _contract(self, cycle: Sequence[int]) -> int:
        """Make one node of a cycle, of which each place has its best head in the next, in the place of its first."""
        place, node, heads = cycle[0], len(self._inside), [*cycle[1:], cycle[0]]
        for member in cycle:
            self._inside[self._node[member]] = node
            self._settled[member] = member != place
        self._inside.append(-1)
        self._edge.append((0, 0))
        self._node[place] = node
        columns = np.arange(self._words)
        # Entering the cycle at a node costs that node its head in it.
        level = self._level[cycle] - self._level[cycle, heads][:, None]
        score = self._score[cycle] - self._score[cycle, heads][:, None]
        into = _best(_Weights(level, score), axis=0)
        entered = np.asarray(cycle)[into]
        row = (
            level[into, columns],
            score[into, columns],
            self._dependent[entered, columns],
            self._head[entered, columns],
        )
        out = np.asarray(cycle)[_best(_Weights(self._level[:, cycle], self._score[:, cycle]), axis=1)]
        for matrix, values in zip((self._level, self._score, self._dependent, self._head), row, strict=True):
            matrix[:, place] = matrix[columns, out]
            matrix[place] = values
        self._level[:, cycle[1:]] = _NEVER
        self._level[place, cycle] = _NEVER
        return place

    def heads(self) -> np.ndarray:
        """Take the cycles apart, the last first: each is broken where its best edge enters it."""
        for node in range(len(self._inside) - 1, self._words - 1, -1):
            entered = self._edge[node][0]
            while self._inside[entered] != node:
                entered = self._inside[entered]
            self._edge[entered] = self._edge[node]
        return np.array([head for _, head in self._edge[1 : self._words]], dtype=np.int64)


def _best(weights: _Weights, *, axis: int) -> np.ndarray:
    """Find where the largest weight along `axis` is (the first, where several are)."""
    largest = weights.level.max(axis=axis, keepdims=True)
    return np.where(weights.level == largest, weights.score, -np.inf).argmax(axis=axis)
