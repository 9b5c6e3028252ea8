"""What trees and tags say about every word, as numbers: many sentences at a time, no loop over words."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.annotation.labels import LABEL_SPECIALS, NO_LABEL, UNKNOWN_LABEL, label_lists
from nmtcore.features.annotated_words import AnnotatedWords
from nmtcore.features.schema import syntax_schema
from nmtcore.syntax.random_tags import random_tags

ANNOTATION_COLUMNS = ["head", "deprel", "upos", "xpos", "ccg"]
"""What features are made of, beside the subwords."""

RANDOM_SEED = 1
"""Random tags belong to the data: they are the same for every run, whatever its seed."""


def syntax_batch(
    annotation: pa.RecordBatch,
    tokens: pa.RecordBatch,
    labels: Mapping[str, Sequence[str]],
    *,
    features: Sequence[str],
    side: str,
    where: object,
) -> pa.RecordBatch:
    """Make `features` (of `config.features.FEATURES`) of N annotated sentences, as `syntax_schema`.

    `annotation` (id, `ANNOTATION_COLUMNS`) and `tokens` (id, word_of_subword) hold the same pairs; `where` tells an
    error message which file this is. What does not fit together (lengths, heads) is a `UserError` that names the pair.
    """
    words = AnnotatedWords(annotation=annotation, tokens=tokens, labels=labels, side=side, where=where)
    schema = syntax_schema(features)
    offsets = pa.array(words.offsets, pa.int32())
    lists = [
        pa.ListArray.from_arrays(offsets, pa.array(column_of(words, field.name), field.type.value_type))
        for field in schema
        if field.name != "id"
    ]
    return pa.RecordBatch.from_arrays([tokens.column("id"), *lists], schema=schema)


def column_of(words: AnnotatedWords, column: str) -> np.ndarray:
    """Compute one column (W,): those of `COLUMNS` by their functions, every other as ids of labels."""
    return COLUMNS[column](words) if column in COLUMNS else _labels(words, column)


def _labels(words: AnnotatedWords, column: str) -> np.ndarray:
    lists = label_lists(words.annotation, column, where=words.where)
    return words.per_word(lookup_label_ids(lists, words.labels[column]), fill=NO_LABEL)


def _random(words: AnnotatedWords) -> np.ndarray:
    """Draw one of the CCG tags for every word of a sentence that has any (aycock2021: random supertags)."""
    types = len(words.labels["random"]) - len(LABEL_SPECIALS)
    known = np.repeat(words.annotation.column("ccg").is_valid().to_numpy(zero_copy_only=False), words.lengths)
    if not types:
        return np.full(len(known), NO_LABEL)
    drawn = random_tags(words.id, words.lengths, types=types, seed=RANDOM_SEED, side=words.side)
    return np.where(known, len(LABEL_SPECIALS) + drawn, NO_LABEL)


COLUMNS: dict[str, Callable[[AnnotatedWords], np.ndarray]] = {
    "governor": lambda words: words.governor,
    "parent_position": lambda words: words.mean_position[words.parent],
    "random": _random,
}
"""How each column is computed that is not made of labels. A root, and a word without a governor, is its own parent
(bugliarello2020, section 3.1: the root's parent is itself)."""


def lookup_label_ids(labels: pa.ListArray, vocabulary: Sequence[str]) -> pa.ListArray:
    """Look labels up: `UNKNOWN_LABEL` for one that the vocabulary lacks, `NO_LABEL` for null; null lists stay null."""
    flat = labels.flatten().dictionary_encode()
    known = pc.index_in(flat.dictionary, value_set=pa.array(vocabulary, pa.string())).fill_null(UNKNOWN_LABEL)
    ids = known.take(flat.indices).fill_null(NO_LABEL)
    lengths = labels.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pa.ListArray.from_arrays(offsets, ids, mask=labels.is_null())
