"""Scores between subwords summed into scores between words (tran2018, equation 24), and the scores of roots."""

import numpy as np
from torch import Tensor

from nmtcore.features.examples import NO_WORD
from nmtcore.model.arrays import SideArrays


def word_of_column(side: SideArrays) -> np.ndarray:
    """Return the word (from 0) of each column of `side.tokens_BS`: (B, S), int64, `NO_WORD` for other tokens."""
    words_BS = np.full(side.tokens_BS.shape, NO_WORD, dtype=np.int64)
    rows_J, columns_J, words_J = side.subwords
    words_BS[rows_J, columns_J] = words_J
    return words_BS


def pool_words(scores: Tensor, words_BS: Tensor, *, count: int) -> Tensor:
    """Sum scores over the block of every pair of words: (B, ..., S, S) to (B, ..., W, W), fp32 or float64.

    `words_BS` comes from `word_of_column`, and `count` is W. Cell (a, b) is the sum over the subwords of word a (rows)
    and word b (columns), whichever of the two is the head; a word's diagonal cell sums its whole block. Rows and
    columns without a word are ignored. Cells of words beyond a sentence's last word are 0.
    """
    exact = scores.float() if scores.dtype.itemsize < 4 else scores
    words = words_BS.reshape(len(words_BS), *[1] * (scores.dim() - 3), words_BS.size(1))
    # Scores without a word go to an extra cell, which is dropped. Masked scores may be infinite, so multiplying them
    # by 0 would not remove them.
    cells = words.masked_fill(words == NO_WORD, count)
    columns = exact.new_zeros(*scores.shape[:-1], count + 1)
    columns = columns.scatter_add(-1, cells.unsqueeze(-2).expand(exact.shape), exact)[..., :count]
    pooled = exact.new_zeros(*scores.shape[:-2], count + 1, count)
    return pooled.scatter_add(-2, cells.unsqueeze(-1).expand(columns.shape), columns)[..., :count, :]


def tree_scores(scores_BSS: Tensor, words_BS: Tensor) -> list[np.ndarray]:
    """Turn scores of subwords (rows) as dependents of subwords into the `parse_scores` of words, by `pool_words`.

    The diagonal holds the scores of roots. Returns one float32 array (W, 1 + W) per sentence, roots in column 0.
    """
    counts_B = (words_BS.amax(dim=1) + 1).clamp_min(0).tolist()
    pooled_BWW = pool_words(scores_BSS.detach(), words_BS, count=max(counts_B)).float().cpu().numpy()
    return [with_root_scores(pooled_WW[:count, :count]) for pooled_WW, count in zip(pooled_BWW, counts_B, strict=True)]


def with_root_scores(scores_WW: np.ndarray) -> np.ndarray:
    """Move the diagonal, the scores of words (rows) as roots, to a column of its own: `parse_scores`, (W, 1 + W).

    Rows are dependents, columns heads. A word's score for itself becomes -inf.
    """
    scores_WW = scores_WW.copy()
    roots_W = scores_WW.diagonal().copy()
    np.fill_diagonal(scores_WW, -np.inf)
    return np.column_stack([roots_W, scores_WW])
