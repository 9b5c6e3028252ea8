"""How many subwords words are split into, counted in the features of a split."""

from pathlib import Path

import numpy as np

from nmtcore.features.examples import ragged_column
from nmtcore.parquet import read_batches


def subword_counts(tokens: Path) -> list[int]:
    """Count words by their number of subwords: entry n is the number of words with n subwords.

    Args:
        tokens: `features/{segmentation}/{split}.{side}.parquet`; read batch by batch.
    """
    totals = np.zeros(1, dtype=np.int64)
    for batch in read_batches(tokens, columns=["word_of_subword"]):
        words = ragged_column(batch.column("word_of_subword"), np.dtype(np.int32))
        # A word begins where a sentence begins, and where the index of the word changes.
        begins = np.ones(len(words.values), dtype=bool)
        begins[1:] = np.diff(words.values) != 0
        begins[words.offsets[:-1][words.lengths > 0]] = True
        sizes = np.diff(np.append(np.flatnonzero(begins), len(words.values)))
        counts = np.bincount(sizes, minlength=len(totals))
        counts[: len(totals)] += totals
        totals = counts
    return totals.tolist()
