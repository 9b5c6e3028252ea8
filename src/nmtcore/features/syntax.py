"""Syntactic features of words as numbers, computed for many sentences at once without a loop over words.

Shapes: B sentences, J subwords, W words.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.annotation.labels import LABEL_SPECIALS, NO_LABEL, UNKNOWN_LABEL, label_lists, replace_values
from nmtcore.errors import UserError
from nmtcore.features.examples import columns_of, syntax_schema, words_per_sentence
from nmtcore.features.ragged import Ragged
from nmtcore.syntax.random_syntax import random_tags
from nmtcore.syntax.trees import NO_GOVERNOR, governors_of, heads_of

ANNOTATION_COLUMNS = ["head", "deprel", "upos", "xpos", "ccg"]
"""The annotation's columns from which features are computed."""

RANDOM_SEED = 1
"""Random tags belong to the data: they are the same for all runs and seeds."""


@dataclass(frozen=True, kw_only=True)
class AnnotatedWords:
    """B sentences with W words and J subwords in all, sentence after sentence, and their annotation.

    Annotations are checked when they are made. Properties raise `UserError` if they have other numbers of words than
    the subwords.
    """

    annotation: pa.RecordBatch
    """Their `id` and `ANNOTATION_COLUMNS`."""
    word_of_subword: Ragged
    """The word (from 0 in its sentence) of every subword."""
    labels: Mapping[str, Sequence[str]]
    """Label vocabularies, by column."""
    side: str
    where: object
    """The name of the annotation in error messages."""

    @property
    def id_B(self) -> np.ndarray:
        """The id of each sentence's pair."""
        return self.annotation.column("id").to_numpy(zero_copy_only=False)

    @cached_property
    def words_B(self) -> np.ndarray:
        """The number of words of each sentence: the word of its last subword, plus 1; 0 without subwords."""
        return words_per_sentence(self.word_of_subword)

    @cached_property
    def offsets(self) -> np.ndarray:
        """The index of each sentence's first word, and W at the end: (B + 1,)."""
        return np.concatenate([[0], np.cumsum(self.words_B)])

    @cached_property
    def governor_W(self) -> np.ndarray:
        """The governor of every word, from 0 in its sentence, with the sentinels of `syntax.trees`.

        A word without subwords lies in one of the word before it (or else after it). They are one node of the tree: its
        governor is that of the highest of them, and it is itself the one that has the subword.
        """
        governor_W = governors_of(self.per_word(self.annotation.column("head"), fill=heads_of(NO_GOVERNOR)))
        first_W, owner_W = np.repeat(self.offsets[:-1], self.words_B), np.full(len(governor_W), -1)
        word_J = np.repeat(self.offsets[:-1], self.word_of_subword.lengths) + self.word_of_subword.values
        owner_W[word_J] = word_J
        if (owner_W >= 0).all():
            return governor_W
        starts, words_B = self.word_of_subword.offsets[:-1][self.words_B > 0], self.words_B[self.words_B > 0]
        owner_W = np.maximum(np.maximum.accumulate(owner_W), np.repeat(word_J[starts], words_B))
        depth_W, ancestor_W = np.zeros_like(owner_W), governor_W
        while (is_word_W := ancestor_W >= 0).any():
            depth_W += is_word_W
            ancestor_W = np.where(is_word_W, governor_W[first_W + ancestor_W], ancestor_W)
        order_W = np.lexsort((depth_W, owner_W))
        owners, starts = np.unique(owner_W[order_W], return_index=True)
        governor_W[owners] = governor_W[order_W[starts]]
        return np.where(governor_W >= 0, owner_W[first_W + governor_W] - first_W, governor_W)

    def per_word(self, lists: pa.ListArray, *, fill: int) -> np.ndarray:
        """Flatten one list of values per sentence to (W,), with `fill` for the words of sentences without a list."""
        annotated_B = lists.is_valid().to_numpy(zero_copy_only=False)
        length_B = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        for b in np.flatnonzero(annotated_B & (length_B != self.words_B))[:1]:
            raise UserError(
                f"{self.where}, pair {self.id_B[b]}: the annotation has {length_B[b]} words, but the subwords have "
                f"{self.words_B[b]}: delete both files and run the workflow again."
            )
        value_W = np.full(int(self.offsets[-1]), fill, np.int64)
        value_W[np.repeat(annotated_B, self.words_B)] = lists.flatten().fill_null(fill).to_numpy(zero_copy_only=False)
        return value_W


def syntax_batch(words: AnnotatedWords, features: Sequence[str]) -> pa.RecordBatch:
    """Compute `features` (of `config.features.FEATURES`) of annotated sentences, as `syntax_schema`.

    Raises `UserError`, naming the pair, if lengths do not match.
    """
    schema, offsets = syntax_schema(features), pa.array(words.offsets, pa.int32())
    lists = [
        pa.ListArray.from_arrays(offsets, pa.array(column_of(words, column), pa.from_numpy_dtype(dtype)))
        for column, dtype in columns_of(features).items()
    ]
    return pa.RecordBatch.from_arrays([words.annotation.column("id"), *lists], schema=schema)


def column_of(words: AnnotatedWords, column: str) -> np.ndarray:
    """Compute one column (W,): by its function in `COLUMNS`, or else as ids of labels."""
    if column in COLUMNS:
        return COLUMNS[column](words)
    lists = label_lists(words.annotation, column, where=words.where)
    return words.per_word(lookup_label_ids(lists, words.labels[column]), fill=NO_LABEL)


def governor_positions(word_of_subword: Ragged, governor_W: np.ndarray) -> np.ndarray:
    """Compute the mean position of each governor's subwords, float64.

    The parent of a root, or of a word without a governor, is the word itself (bugliarello2020, section 3.1: the root's
    parent is itself).
    """
    words_B, total = words_per_sentence(word_of_subword), len(governor_W)
    first_B = np.cumsum(words_B) - words_B
    _, position_J = word_of_subword.rows_and_columns()
    word_J = np.repeat(first_B, word_of_subword.lengths) + word_of_subword.values
    count_W = np.maximum(np.bincount(word_J, minlength=total), 1)  # of pieces of text, a word may have none
    mean_W = np.bincount(word_J, weights=position_J, minlength=total) / count_W
    return mean_W[np.where(governor_W >= 0, np.repeat(first_B, words_B) + governor_W, np.arange(total))]


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
    "parent_position": lambda words: governor_positions(words.word_of_subword, words.governor_W),
    "random": _random_column,
}
"""The functions that compute the columns other than labels."""


def lookup_label_ids(labels: pa.ListArray, vocabulary: Sequence[str]) -> pa.ListArray:
    """Look up the ids of labels: `UNKNOWN_LABEL` if missing; null labels and null lists stay null."""
    value_set = pa.array(vocabulary, pa.string())
    return replace_values(labels, lambda types: pc.index_in(types, value_set=value_set).fill_null(UNKNOWN_LABEL))
