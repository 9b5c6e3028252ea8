"""Two tasks in one corpus: every source to be translated, and again to be parsed (Currey and Heafield 2019, section 3).

A source stands between two tags that say which it is; both tasks share everything else.
"""

import numpy as np
import pyarrow as pa

from nmtcore.segmentation.vocabulary import PARSE, TRANSLATE, unsplit

PARSED = "brackets"
"""The column of linearised parses in `annotation/{annotator}/{split}.source.brackets.parquet`."""


ROWS_OF_A_PAIR = 2
"""At most."""


def wrapped(sentences: pa.ListArray, tag: str) -> pa.ListArray:
    """Put the entry of `tag` before and after every sentence's words."""
    lengths = sentences.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths + 2)])
    words = sentences.flatten()
    chosen = np.full(offsets[-1], len(words))
    inner = np.ones(len(chosen), dtype=bool)
    inner[offsets[:-1]] = inner[offsets[1:] - 1] = False
    chosen[inner] = np.arange(len(words))
    entries = pa.concat_arrays([words, pa.array([unsplit(tag)], words.type)])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), entries.take(pa.array(chosen)))


def to_translate(ids: pa.Array, words: pa.ListArray, side: str) -> tuple[pa.Array, pa.ListArray]:
    """Give the rows of pairs that are only to be translated."""
    return ids, wrapped(words, TRANSLATE) if side == "source" else words


def both_tasks(ids: pa.Array, words: pa.ListArray, parses: pa.ListArray, side: str) -> tuple[pa.Array, pa.ListArray]:
    """Give the rows of both tasks: a pair's translation, then its parse where it has one (`parses` is not null).

    The parse of pair `i` has the id `-1 - i`, so that every row can be told.
    """
    known = parses.is_valid()
    if side == "source":
        first, second = wrapped(words, TRANSLATE), wrapped(words.filter(known), PARSE)
    else:
        first, second = words, parses.filter(known)
    pairs = ids.to_numpy()
    parsed = np.flatnonzero(known.to_numpy(zero_copy_only=False))
    order = pa.array(np.argsort(np.concatenate([np.arange(len(pairs)), parsed]), kind="stable"))
    numbers = pa.array(np.concatenate([pairs, -1 - pairs[parsed]]), pa.int64())
    return numbers.take(order), pa.concat_arrays([first.cast(second.type), second]).take(order)


def rows_of_first(pairs: int, ids: np.ndarray) -> int:
    """Count the rows of the first `pairs` pairs, where every pair's rows follow one another."""
    return int(np.searchsorted(np.cumsum(ids >= 0), pairs, side="right"))


def translations(ids: np.ndarray) -> np.ndarray:
    """Find the rows that are to be translated."""
    return np.flatnonzero(ids >= 0)
