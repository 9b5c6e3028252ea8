"""Syntactic features of words as numbers, computed for many sentences at once without a loop over words."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.annotation.labels import LABEL_SPECIALS, NO_LABEL, UNKNOWN_LABEL, label_lists
from nmtcore.features.annotated_words import AnnotatedWords
from nmtcore.features.schema import syntax_schema
from nmtcore.syntax.random_tags import random_tags

ANNOTATION_COLUMNS = ["head", "deprel", "upos", "xpos", "ccg"]
"""The annotation's columns from which features are computed."""

RANDOM_SEED = 1
"""Random tags belong to the data: they are the same for all runs and seeds."""


def syntax_batch(
    annotation: pa.RecordBatch,
    tokens: pa.RecordBatch,
    labels: Mapping[str, Sequence[str]],
    *,
    features: Sequence[str],
    side: str,
    where: object,
) -> pa.RecordBatch:
    """Compute `features` (of `config.features.FEATURES`) of annotated sentences, as `syntax_schema`.

    `annotation` (id, `ANNOTATION_COLUMNS`) and `tokens` (id, word_of_subword) hold the same pairs; `where` names the
    annotation in errors. Raises `UserError`, naming the pair, if lengths or heads do not match.
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
    """Compute one column (W,): by its function in `COLUMNS`, or else as ids of labels."""
    return COLUMNS[column](words) if column in COLUMNS else _label_column(words, column)


def _label_column(words: AnnotatedWords, column: str) -> np.ndarray:
    lists = label_lists(words.annotation, column, where=words.where)
    return words.per_word(lookup_label_ids(lists, words.labels[column]), fill=NO_LABEL)


def _random_column(words: AnnotatedWords) -> np.ndarray:
    """Draw a random CCG tag for every word of the sentences that have CCG tags (aycock2021: random supertags)."""
    types = len(words.labels["random"]) - len(LABEL_SPECIALS)
    tagged_W = np.repeat(words.annotation.column("ccg").is_valid().to_numpy(zero_copy_only=False), words.words_B)
    if not types:
        return np.full(len(tagged_W), NO_LABEL)
    tag_W = random_tags(words.id_B, words.words_B, types=types, seed=RANDOM_SEED, side=words.side)
    return np.where(tagged_W, len(LABEL_SPECIALS) + tag_W, NO_LABEL)


COLUMNS: dict[str, Callable[[AnnotatedWords], np.ndarray]] = {
    "governor": lambda words: words.governor_W,
    "parent_position": lambda words: words.mean_position_W[words.global_governor_W],
    "random": _random_column,
}
"""The functions that compute the columns other than labels. The parent of a root, or of a word without a governor, is
the word itself (bugliarello2020, section 3.1: the root's parent is itself)."""


def lookup_label_ids(labels: pa.ListArray, vocabulary: Sequence[str]) -> pa.ListArray:
    """Look up the ids of labels: `UNKNOWN_LABEL` if missing, `NO_LABEL` for null; null lists stay null."""
    encoded = labels.flatten().dictionary_encode()
    type_ids = pc.index_in(encoded.dictionary, value_set=pa.array(vocabulary, pa.string())).fill_null(UNKNOWN_LABEL)
    ids = type_ids.take(encoded.indices).fill_null(NO_LABEL)
    lengths = labels.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pa.ListArray.from_arrays(offsets, ids, mask=labels.is_null())
