"""Sources as models translate and parse them, in the workflow and on the command line.

Those without words are left out, and very long ones are cut into parts.

Shapes: P parts, W words.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.features.syntax import governor_positions
from nmtcore.features.transforms.chain import Transforms
from nmtcore.syntax.trees import GOVERNOR_OF_ROOT

T = TypeVar("T")

MAX_SUBWORDS = 1000
"""Subwords per example, without the tags of words; longer sources are cut into parts."""


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Sentences, and the parts (P) that a model reads: one of each sentence, several of a very long one.

    A sentence without words has no part, and so an empty translation and an empty parse.
    """

    ids: np.ndarray
    """The ids of all sentences."""
    examples: Examples
    """The parts, with the ids of their sentences, without targets."""
    row_P: np.ndarray
    """The row of each part's sentence among all sentences."""
    first_P: np.ndarray
    """The sentence's word (from 0) with which each part begins. A word too long for one part continues in the next."""

    def __len__(self) -> int:
        return len(self.ids)

    def by_sentence(self, values: Iterable[T]) -> list[list[T]]:
        """Group values, one per part, by sentence."""
        groups: list[list[T]] = [[] for _ in self.ids]
        for row, value in zip(self.row_P.tolist(), values, strict=True):
            groups[row].append(value)
        return groups

    @property
    def long(self) -> dict[int, int]:
        """The number of parts of each very long sentence, by its row."""
        rows, counts = np.unique(self.row_P, return_counts=True)
        return {row: count for row, count in zip(rows.tolist(), counts.tolist(), strict=True) if count > 1}


def cut_sources(examples: Examples, transforms: Transforms) -> Sources:
    """Leave out sources without words, cut those of more than `MAX_SUBWORDS` subwords, and transform the parts.

    A part has the features of its words; a word whose governor is in another part is a root.
    """
    side = examples.source
    ranges = [
        (row, start, stop)
        for row, words in enumerate(side.word_of_subword)
        for start, stop in part_ranges(words, longest=MAX_SUBWORDS)
    ]
    row_P, start_P, stop_P = np.array(ranges, dtype=np.int64).reshape(-1, 3).T
    first_P = side.word_of_subword.values[side.word_of_subword.offsets[row_P] + start_P].astype(np.int64)
    parts = replace(examples, target=None)
    if not np.array_equal(row_P, np.arange(len(examples))):
        parts = Examples(id=examples.id[row_P], source=_cut(side, row_P, start_P, stop_P, first_P))
    return Sources(ids=examples.id, examples=transforms.for_translation(parts), row_P=row_P, first_P=first_P)


def long_pairs(examples: Examples) -> np.ndarray:
    """Return the rows with more than `MAX_SUBWORDS` subwords on a side; such pairs are not cut."""
    is_long = examples.source.subword_counts > MAX_SUBWORDS
    if examples.target is not None:
        is_long |= examples.target.subword_counts > MAX_SUBWORDS
    return np.flatnonzero(is_long)


def part_ranges(word_of_subword: Sequence[int], *, longest: int) -> Iterator[tuple[int, int]]:
    """Cut a sentence into ranges (start, stop) of at most `longest` subwords, between words if possible."""
    start, end = 0, len(word_of_subword)
    while start < end:
        stop = min(start + longest, end)
        while stop < end and stop > start and word_of_subword[stop] == word_of_subword[stop - 1]:
            stop -= 1
        stop = stop if stop > start else min(start + longest, end)
        yield start, stop
        start = stop


def _cut(
    side: SideExamples, row_P: np.ndarray, start_P: np.ndarray, stop_P: np.ndarray, first_P: np.ndarray
) -> SideExamples:
    words = side.word_of_subword.slices(row_P, start_P, stop_P)
    words = Ragged(words.values - np.repeat(first_P, words.lengths).astype(words.values.dtype), words.offsets)
    parts = SideExamples(ids=side.ids.slices(row_P, start_P, stop_P), word_of_subword=words)
    count_P = parts.word_counts
    features = {name: column.slices(row_P, first_P, first_P + count_P) for name, column in side.features.items()}
    if "governor" in features:
        governor = features["governor"]
        first_W, count_W = np.repeat(first_P, count_P), np.repeat(count_P, count_P)
        moved_W = governor.values - first_W
        moved_W = np.where((moved_W >= 0) & (moved_W < count_W), moved_W, GOVERNOR_OF_ROOT)
        governor_W = np.where(governor.values < 0, governor.values, moved_W).astype(governor.values.dtype)
        positions_W = governor_positions(words, governor_W).astype(features["parent_position"].values.dtype)
        features["governor"] = Ragged(governor_W, governor.offsets)
        features["parent_position"] = Ragged(positions_W, governor.offsets)
    return replace(parts, features=features)
