"""What trees and tags say about every word, as numbers: many sentences at a time, no loop over words."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.annotation.labels import NONE, SPECIALS, UNKNOWN
from nmtcore.errors import UserError
from nmtcore.features.ragged import Ragged
from nmtcore.features.schema import LABELS, NO_GOVERNOR, SYNTAX_SCHEMA


def syntax_batch(
    annotation: pa.RecordBatch, tokens: pa.RecordBatch, labels: dict[str, list[str]], *, where: object, row: int = 0
) -> pa.RecordBatch:
    """Make the features of N annotated sentences: `annotation` (id, head, labels) and `tokens` (id, word_of_subword).

    `where` and `row` tell an error message which file this is, and the number of its first row here. What does not fit
    together (lengths, heads) is a `UserError` that names the row.
    """
    words = _ragged(tokens.column("word_of_subword"), np.int64)
    lengths = _word_counts(words, where=where, row=row)
    heads = _per_word(annotation.column("head"), lengths, fill=NO_GOVERNOR + 1, where=where, row=row)
    governor = Ragged.from_lengths(heads - 1, lengths)
    _check_governors(governor, where=where, row=row)
    columns = {"governor": governor.values, "parent_position": _parent_positions(words, governor)}
    for kind in LABELS:
        ids = label_ids(annotation.column(kind), labels[kind])
        columns[kind] = _per_word(ids, lengths, fill=NONE, where=where, row=row)
    offsets = pa.array(governor.offsets, pa.int32())
    lists = [
        pa.ListArray.from_arrays(offsets, pa.array(columns[field.name], field.type.value_type))
        for field in SYNTAX_SCHEMA
        if field.name != "id"
    ]
    return pa.RecordBatch.from_arrays([tokens.column("id"), *lists], schema=SYNTAX_SCHEMA)


def label_ids(labels: pa.ListArray, vocabulary: list[str]) -> pa.ListArray:
    """Look labels up: `UNKNOWN` for one that the vocabulary lacks, `NONE` for null; null lists stay null."""
    flat = labels.flatten().fill_null(SPECIALS[NONE])
    ids = pc.index_in(flat, value_set=pa.array(vocabulary, pa.string())).fill_null(UNKNOWN)
    lengths = labels.value_lengths().fill_null(0).to_numpy()
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pa.ListArray.from_arrays(offsets, ids, mask=labels.is_null())


def _ragged(lists: pa.ListArray, kind: type) -> Ragged:
    lengths = lists.value_lengths().fill_null(0).to_numpy()
    return Ragged.from_lengths(lists.flatten().to_numpy(zero_copy_only=False).astype(kind), lengths)


def _word_counts(words: Ragged, *, where: object, row: int) -> np.ndarray:
    """Count the words of each sentence (N,): one more than the word of its last subword; no subwords, no words."""
    full = words.lengths > 0
    first, last = words.offsets[:-1][full], words.offsets[1:][full] - 1
    steps = np.diff(words.values, prepend=0)
    steps[first] = 2 * words.values[first]
    # Words rise by 0 or 1 from subword to subword, and start from 0: so every word has a subword.
    for k in np.flatnonzero((steps < 0) | (steps > 1))[:1]:
        bad = row + int(np.searchsorted(words.offsets, k, side="right")) - 1
        raise UserError(f"Row {bad} of the subwords beside {where} skips a word: delete the features and run again.")
    counts = np.zeros(len(words), np.int64)
    counts[full] = words.values[last] + 1
    return counts


def _per_word(lists: pa.ListArray, lengths: np.ndarray, *, fill: int, where: object, row: int) -> np.ndarray:
    """Write one value a word (W,), `fill` for the words of a sentence whose list is null."""
    known = lists.is_valid().to_numpy(zero_copy_only=False)
    found = lists.value_lengths().fill_null(0).to_numpy()
    for k in np.flatnonzero(known & (found != lengths))[:1]:
        raise UserError(
            f"{where}, row {row + k}: an annotation of {found[k]} words for {lengths[k]} words of the subwords: "
            "delete both and run the workflow again."
        )
    values = np.full(int(lengths.sum()), fill, np.int64)
    values[np.repeat(known, lengths)] = lists.flatten().fill_null(fill).to_numpy(zero_copy_only=False)
    return values


def _check_governors(governor: Ragged, *, where: object, row: int) -> None:
    size = np.repeat(governor.lengths, governor.lengths)
    for k in np.flatnonzero((governor.values < NO_GOVERNOR) | (governor.values >= size))[:1]:
        bad = row + int(np.searchsorted(governor.offsets, k, side="right")) - 1
        raise UserError(
            f"{where}, row {bad}: head {governor.values[k] + 1} in a sentence of {size[k]} words: annotate again."
        )


def _parent_positions(words: Ragged, governor: Ragged) -> np.ndarray:
    """Average the positions (0-based in the sentence) of the subwords of each word's governor: (W,) float64.

    A root, and a word without a governor, has its own mean position (bugliarello2020: the root's parent is itself).
    """
    position = np.arange(len(words.values)) - np.repeat(words.offsets[:-1], words.lengths)
    word = np.repeat(governor.offsets[:-1], words.lengths) + words.values
    count = len(governor.values)
    own = np.bincount(word, weights=position, minlength=count) / np.bincount(word, minlength=count)
    start = np.repeat(governor.offsets[:-1], governor.lengths)
    return own[np.where(governor.values >= 0, start + governor.values, np.arange(count))]
