"""Sources as models translate and parse them, in the workflow and on the command line.

Shapes: U nodes, W words.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.transforms.chain import Transforms
from nmtcore.syntax.trees import HEAD_OF_ROOT

T = TypeVar("T")

MAX_SUBWORDS = 1000
"""Subwords of the longest sentence that models read, without the tags of words."""


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Sentences, and those that a model reads: all that have words, and at most `MAX_SUBWORDS` subwords.

    The others are left out: their translations are empty, and all words of their parses are roots.
    """

    ids: np.ndarray
    """The ids of all sentences."""
    side: SideExamples
    """The subwords of all sentences."""
    examples: Examples
    """The sentences that the model reads, without targets."""
    rows: np.ndarray
    """The row of each example among all sentences."""
    long: Sequence[int]
    """The rows of the sentences that are left out although they have words."""

    def __len__(self) -> int:
        return len(self.ids)

    def of_all(self, values: Iterable[T], left_out: T) -> list[T]:
        """Return a value for each sentence, given those of the examples, and the one of a sentence that is left out."""
        by_row = dict(zip(self.rows.tolist(), values, strict=True))
        return [by_row.get(row, left_out) for row in range(len(self))]

    def heads_of_all(self, heads: Iterable[np.ndarray]) -> list[np.ndarray]:
        """Return the heads of the words of each sentence, given those of the examples."""
        chosen = enumerate(zip(self.of_all(heads, None), self.side.word_counts, strict=True))
        return [
            np.full(count, HEAD_OF_ROOT) if heads_W is None else self.heads_of_words(row, heads_W)
            for row, (heads_W, count) in chosen
        ]

    def heads_of_words(self, row: int, heads_U: np.ndarray) -> np.ndarray:
        """Return the heads of a sentence's W words, given those of the U words that have subwords.

        The head of a word without subwords, which lies in one of the word before it, is this word.
        """
        words_U = np.unique(self.side.word_of_subword[row])
        owner_W = np.searchsorted(words_U, np.arange(words_U[-1] + 1), side="right") - 1
        heads_W = words_U[np.maximum(owner_W, 0)] + 1
        heads_W[words_U] = np.where(heads_U == HEAD_OF_ROOT, HEAD_OF_ROOT, words_U[heads_U - 1] + 1)
        return heads_W


def select_sources(examples: Examples, transforms: Transforms) -> Sources:
    """Leave out sources without words and those of more than `MAX_SUBWORDS` subwords, and transform the others."""
    lengths = examples.source.ids.lengths
    long = lengths > MAX_SUBWORDS
    rows = np.flatnonzero((lengths > 0) & ~long)
    chosen = Examples(id=examples.id, source=examples.source)
    if len(rows) < len(examples):
        chosen = chosen.take(rows)
    return Sources(
        ids=examples.id,
        side=examples.source,
        examples=transforms.for_translation(chosen),
        rows=rows,
        long=np.flatnonzero(long).tolist(),
    )


def long_pairs(examples: Examples) -> np.ndarray:
    """Return the rows with more than `MAX_SUBWORDS` subwords on a side."""
    is_long = examples.source.subword_counts > MAX_SUBWORDS
    if examples.target is not None:
        is_long |= examples.target.subword_counts > MAX_SUBWORDS
    return np.flatnonzero(is_long)
