"""Annotated sentences cut into subwords, many at a time: what features are computed from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from nmtcore.errors import UserError
from nmtcore.features.ragged import Ragged
from nmtcore.syntax.annotation import tree_fault
from nmtcore.syntax.shape import word_depths
from nmtcore.syntax.trees import NO_GOVERNOR, governors_of, heads_of


@dataclass(frozen=True, kw_only=True)
class AnnotatedWords:
    """N sentences of W words in P subwords, with their annotation; what does not fit together is a `UserError`."""

    annotation: pa.RecordBatch
    tokens: pa.RecordBatch
    labels: dict[str, list[str]]
    """Label vocabularies, by the name of the column that they are for."""
    side: str
    where: object
    """What error messages call the annotation."""

    @property
    def id(self) -> np.ndarray:
        """The pair of each sentence (N,)."""
        return self.tokens.column("id").to_numpy(zero_copy_only=False)

    @cached_property
    def word_of_subword(self) -> Ragged:
        """The word of every subword (P,), 0-based in its sentence."""
        lists = self.tokens.column("word_of_subword")
        lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        return Ragged.from_lengths(lists.flatten().to_numpy(zero_copy_only=False).astype(np.int64), lengths)

    @cached_property
    def lengths(self) -> np.ndarray:
        """The words of each sentence (N,): one more than the word of its last subword; no subwords, no words."""
        words = self.word_of_subword
        full = words.lengths > 0
        first, last = words.offsets[:-1][full], words.offsets[1:][full] - 1
        steps = np.diff(words.values, prepend=0)
        steps[first] = 2 * words.values[first]
        # Words rise by 0 or 1 from subword to subword, and start from 0: so every word has a subword.
        for k in np.flatnonzero((steps < 0) | (steps > 1))[:1]:
            bad = self.id[_owner(words.offsets, k)]
            raise UserError(
                f"The subwords of pair {bad} beside {self.where} skip a word: delete the features and run again."
            )
        counts = np.zeros(len(words), np.int64)
        counts[full] = words.values[last] + 1
        return counts

    @cached_property
    def offsets(self) -> np.ndarray:
        """Where each sentence's words begin (N + 1,)."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    @cached_property
    def governor(self) -> np.ndarray:
        """The governor of every word (W,), 0-based in its sentence, with the sentinels of `syntax.trees`."""
        governor = governors_of(self.per_word(self.annotation.column("head"), fill=heads_of(NO_GOVERNOR)))
        size = np.repeat(self.lengths, self.lengths)
        for k in np.flatnonzero((governor < NO_GOVERNOR) | (governor >= size))[:1]:
            pair, head = self.id[_owner(self.offsets, k)], heads_of(governor[k])
            raise UserError(f"{self.where}, pair {pair}: head {head} in a sentence of {size[k]} words: annotate again.")
        self._check_trees(governor)
        return governor

    @cached_property
    def parent(self) -> np.ndarray:
        """Number every word's governor among the W words; a word without one is its own (W,)."""
        first = np.repeat(self.offsets[:-1], self.lengths)
        return np.where(self.governor >= 0, first + self.governor, np.arange(len(first)))

    def _check_trees(self, governor: np.ndarray) -> None:
        """Refuse heads in a cycle, in the sentences whose governors (W,) are all known."""
        sentence = np.repeat(np.arange(len(self.lengths)), self.lengths)
        unknown = np.zeros(len(self.lengths), bool)
        unknown[sentence[governor == NO_GOVERNOR]] = True
        heads, lengths = heads_of(governor[~unknown[sentence]]), self.lengths[~unknown]
        try:
            word_depths(heads, lengths)
        except ValueError:
            for pair, tree in zip(self.id[~unknown], Ragged.from_lengths(heads, lengths), strict=True):
                if fault := tree_fault(tree.tolist()):
                    raise UserError(f"{self.where}, pair {pair}: {fault}: annotate again.") from None
            raise

    def per_word(self, lists: pa.ListArray, *, fill: int) -> np.ndarray:
        """Write one value a word (W,), `fill` for the words of a sentence whose list is null."""
        known = lists.is_valid().to_numpy(zero_copy_only=False)
        found = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        for k in np.flatnonzero(known & (found != self.lengths))[:1]:
            raise UserError(
                f"{self.where}, pair {self.id[k]}: an annotation of {found[k]} words for {self.lengths[k]} words of "
                "the subwords: delete both and run the workflow again."
            )
        values = np.full(int(self.offsets[-1]), fill, np.int64)
        values[np.repeat(known, self.lengths)] = lists.flatten().fill_null(fill).to_numpy(zero_copy_only=False)
        return values

    @cached_property
    def word(self) -> np.ndarray:
        """The word of every subword, among all W (P,)."""
        words = self.word_of_subword
        return np.repeat(self.offsets[:-1], words.lengths) + words.values

    @cached_property
    def position(self) -> np.ndarray:
        """The position of every subword in its sentence, from 0 (P,)."""
        return self.word_of_subword.rows_and_columns()[1]

    @cached_property
    def mean_position(self) -> np.ndarray:
        """The mean position of every word's subwords (W,), float64."""
        count = int(self.offsets[-1])
        return np.bincount(self.word, weights=self.position, minlength=count) / np.bincount(self.word, minlength=count)


def _owner(offsets: np.ndarray, k: int) -> int:
    """Give the sentence that value `k` belongs to."""
    return int(np.searchsorted(offsets, k, side="right")) - 1
