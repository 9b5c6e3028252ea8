"""The maximum spanning tree of a score matrix: Chu and Liu 1965, Edmonds 1967.

Shapes: U nodes, W words.
"""

import numpy as np

from nmtcore.syntax.trees import HEAD_OF_ROOT, find_cycle


def maximum_spanning_tree(scores_WU: np.ndarray, *, single_root: bool) -> np.ndarray:
    """Find the tree, projective or not, with the largest sum of scores.

    While the best heads of all nodes form a cycle, it is contracted into one node; then the cycles are opened again,
    the last first, each where the best edge enters it.

    Args:
        scores_WU: row = dependent, column 0 = the root, column j = word j; a word's own column is ignored. An edge of
            score -inf is used only if every tree needs one. Raises ValueError for NaN and +inf.
        single_root: exactly one word is a root (UD); otherwise one or more are (CzEng, PDT).

    Returns:
        The heads (W,), 1-based, 0 = root. The result is exact, and deterministic among equally good trees. Takes O(W^2)
        time for each cycle.
    """
    weights_2UU = _edge_weights(np.asarray(scores_WU, dtype=np.float64), single_root=single_root)
    contractions = []
    while cycle := find_cycle((heads_U := _argmax(weights_2UU, axis=1))[1:].tolist()):
        rest_U = np.setdiff1d(np.arange(len(heads_U)), cycle)  # nodes outside the cycle; the root is the first
        last, each_U = len(rest_U), np.arange(len(rest_U))
        # An edge into the cycle replaces the head, within the cycle, of the node that it enters.
        into_2UU = weights_2UU[:, cycle][:, :, rest_U] - weights_2UU[:, cycle, heads_U[cycle]][:, :, None]
        from_2UU = weights_2UU[:, rest_U][:, :, cycle]
        entered_U, left_U = _argmax(into_2UU, axis=0), _argmax(from_2UU, axis=1)
        contractions.append((rest_U, heads_U, np.take(cycle, entered_U), np.take(cycle, left_U)))
        contracted_2UU = np.full((2, last + 1, last + 1), -np.inf)  # the cycle is the last node
        contracted_2UU[:, :last, :last] = weights_2UU[:, rest_U][:, :, rest_U]
        contracted_2UU[:, last, :last] = into_2UU[:, entered_U, each_U]
        contracted_2UU[:, :last, last] = from_2UU[:, each_U, left_U]
        weights_2UU = contracted_2UU
    for rest_U, opened_U, entered_U, left_U in reversed(contractions):
        last = len(rest_U)
        opened_U[rest_U] = [left_U[k] if head == last else rest_U[head] for k, head in enumerate(heads_U[:last])]
        opened_U[entered_U[heads_U[last]]] = rest_U[heads_U[last]]
        heads_U = opened_U
    return heads_U[1:]


def _edge_weights(scores_WU: np.ndarray, *, single_root: bool) -> np.ndarray:
    """Return the weights (2, U, U) of edges, compared first by a level, then by score; row = dependent, column = head.

    The algorithm only adds, subtracts and compares weights, so it works on pairs as well. "As few roots as possible" is
    a level: subtracting a large constant from the scores instead would cost their last digits.
    """
    if scores_WU.ndim != 2 or scores_WU.shape[1] != scores_WU.shape[0] + 1:
        raise ValueError(f"scores must have shape (n, n + 1), not {scores_WU.shape}")
    words = len(scores_WU)
    own_WU = np.eye(words, words + 1, k=1, dtype=bool)
    if np.any(np.isnan(scores_WU[~own_WU])) or np.any(scores_WU[~own_WU] == np.inf):
        raise ValueError("scores must not be NaN or +inf")
    weights_2UU = np.full((2, words + 1, words + 1), -np.inf)  # no edge enters the root
    forbidden_WU = np.isneginf(scores_WU)
    weights_2UU[0, 1:] = np.where(own_WU, -np.inf, -1.0 * forbidden_WU)
    if single_root:
        weights_2UU[0, 1:, HEAD_OF_ROOT] -= words + 1
    weights_2UU[1, 1:] = np.where(own_WU | forbidden_WU, 0.0, scores_WU)
    return weights_2UU


def _argmax(weights: np.ndarray, *, axis: int) -> np.ndarray:
    """Return the index of the largest pair (level, score) along `axis`, the first if several are largest."""
    level, score = weights
    return np.where(level == level.max(axis=axis, keepdims=True), score, -np.inf).argmax(axis=axis)
