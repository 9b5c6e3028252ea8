"""From scores between subwords to scores between words (tran2018, equation 24).

B batch, S subwords (with what stands around them), W words.
"""

import numpy as np
from torch import Tensor

from nmtcore.features.examples import NO_WORD
from nmtcore.model.arrays import Arrays


def word_of_column(arrays: Arrays) -> np.ndarray:
    """Say to which word (from 0) each column of `arrays.source_BS` belongs: (B, S), int64, `NO_WORD` for none."""
    words_BS = np.full(arrays.source_BS.shape, NO_WORD, dtype=np.int64)
    rows, columns, words = arrays.words
    words_BS[rows, columns] = words
    return words_BS


def pool_words(scores: Tensor, words_BS: Tensor, *, count: int) -> Tensor:
    """Sum scores over the block of every pair of words: (B, ..., S, S) to (B, ..., W, W), fp32 or float64.

    `words_BS` is as `word_of_column` gives it, `count` is W. Cell (a, b) is the sum over the pieces of a (rows) and of
    b (columns), whichever of the two is the head; so a word's diagonal cell is the sum of its whole block. What lies in
    rows and columns without a word is not looked at; cells of words that a sentence lacks are 0.
    """
    exact = scores.float() if scores.dtype.itemsize < 4 else scores
    words = words_BS.reshape(len(words_BS), *[1] * (scores.dim() - 3), words_BS.size(1))
    # A column more takes what has no word, and is dropped: masked scores may be infinite, so none is multiplied by 0.
    places = words.masked_fill(words == NO_WORD, count)
    columns_W = exact.new_zeros(*scores.shape[:-1], count + 1)
    columns_W = columns_W.scatter_add(-1, places.unsqueeze(-2).expand(exact.shape), exact)[..., :count]
    pooled = exact.new_zeros(*scores.shape[:-2], count + 1, count)
    return pooled.scatter_add(-2, places.unsqueeze(-1).expand(columns_W.shape), columns_W)[..., :count, :]
