"""Parts of a test: by supertags or constituents, by length, and where two systems translate most differently.

Shapes: B sentences.
"""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nmtcore.config.training import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.metrics import METRICS, Lines
from nmtcore.parquet import read_rows, row_count
from nmtcore.syntax.categories import ALL_CONSTRUCTIONS, constructions
from nmtcore.syntax.constituents import parse_constituents, phrase_labels

FEW = 30
"""Sentences below which a subset is marked as too small to conclude anything from."""


WIDTH = 10
"""Numbers of words that a bin of lengths covers."""

LONGEST_BIN = 60
"""Words from which on all sentences are in one bin, as there are few of them in any test."""


class Subsets(NamedTuple):
    """The sentences of a test set that have some property; a sentence may be in several subsets or in none."""

    rows: dict[str, np.ndarray]
    """Subset → the positions of its sentences, sorted; empty if there are none."""
    unanalysed: int
    """Number of sentences without an analysis, which are in no subset."""


def read_subsets(annotation: Path, column: str, *, sentences: int) -> Subsets:
    """Divide the first sentences of a test set by an annotation's column, "ccg" or "constituency".

    Raises `UserError` if the annotation has fewer sentences or a broken tree.
    """
    values = read_translated(annotation, column, sentences=sentences)
    if column == "ccg":
        return construction_subsets(values)
    return constituent_subsets(values, where=annotation)


def read_translated(path: Path, column: str, *, sentences: int) -> list[Any]:
    """Read a column of the first sentences of a test, which are translated. Raises `UserError` if there are fewer."""
    if row_count(path) < sentences:
        raise UserError(
            f"{path} has {row_count(path):,} sentences, but {sentences:,} were translated: delete the "
            "older of the two and run the workflow again."
        )
    return [row[column] for row in read_rows(path, columns=[column], stop=sentences)]


def construction_subsets(supertags: Iterable[Sequence[str] | None]) -> Subsets:
    """Find the sentences with each construction, all of them in the order of `ALL_CONSTRUCTIONS`; None: no analysis."""
    shown = [None if categories is None else constructions(categories) for categories in supertags]
    return _subsets(ALL_CONSTRUCTIONS, shown)


def constituent_subsets(trees: Iterable[str | None], *, where: Path) -> Subsets:
    """Find the sentences with a phrase of each label that occurs, the most frequent label first; None: no analysis.

    Raises `UserError` for the row of a broken tree; `where` is its file.
    """
    labels = []
    for row, text in enumerate(trees, start=1):
        try:
            labels.append(None if text is None else phrase_labels(parse_constituents(text)))
        except ValueError as error:
            raise UserError(f"{where}, row {row}: the constituency tree is broken: {error}.") from error
    subsets = _subsets(sorted({label for sentence in labels for label in sentence or ()}), labels)
    by_size = sorted(subsets.rows, key=lambda label: -len(subsets.rows[label]))  # stable: else alphabetical
    return Subsets(rows={label: subsets.rows[label] for label in by_size}, unanalysed=subsets.unanalysed)


def _subsets(names: Iterable[str], shown: Sequence[Iterable[str] | None]) -> Subsets:
    rows: dict[str, list[int]] = {name: [] for name in names}
    for row, sentence in enumerate(shown):
        for name in sentence or ():
            rows[name].append(row)
    return Subsets(
        rows={name: np.array(positions, dtype=np.int64) for name, positions in rows.items()},
        unanalysed=sum(sentence is None for sentence in shown),
    )


class LongSentences(NamedTuple):
    """The longest sentences of a test."""

    fewest_words: int
    """The words of the shortest of them."""
    rows_B: np.ndarray
    """Their positions, from 0."""


def length_bins(words: Sequence[int]) -> dict[str, np.ndarray]:
    """Divide sentences, given by their numbers of words, into bins: 1 to 10, 11 to 20... and over 60.

    Returns the positions of the sentences by the name of the bin, the shortest bin first; empty bins are left out. An
    empty sentence is in no bin.
    """
    words_B = np.asarray(words, dtype=np.int64)
    bins = {f"{low} to {low + WIDTH - 1}": (low, low + WIDTH) for low in range(1, LONGEST_BIN, WIDTH)}
    bins[f"over {LONGEST_BIN}"] = (LONGEST_BIN + 1, np.iinfo(np.int64).max)
    rows = {name: np.flatnonzero((low <= words_B) & (words_B < end)) for name, (low, end) in bins.items()}
    return {name: rows_B for name, rows_B in rows.items() if len(rows_B)}


def long_sentences(words: Sequence[int], *, share: float) -> LongSentences:
    """Return the longest sentences, at least the `share` (0 to 1) of all; those that are as long as the last count too.

    Raises `ValueError` if there are no sentences.
    """
    if not words:
        raise ValueError("there are no sentences")
    words_B = np.asarray(words, dtype=np.int64)
    # The product may be a little too large: 0.07 * 100 > 7.
    count = min(max(1, math.ceil(round(share * len(words), 6))), len(words))
    fewest = int(np.sort(words_B)[-count])
    return LongSentences(fewest, np.flatnonzero(words_B >= fewest))


class ScoredSentence(NamedTuple):
    """The position of a sentence in its test, and the chrF of its two translations."""

    row: int
    chrf: float
    """Of the first system's translation."""
    other_chrf: float
    """Of the second system's."""


def differing_sentences(
    translations: Lines, others: Lines, references: Lines, evaluation: EvaluationSettings, *, most: int
) -> list[ScoredSentence]:
    """List at most `most` sentences whose two translations differ, the largest difference in chrF first.

    Sentences with equal differences keep their order. Raises `ValueError` if the numbers of sentences differ.
    """
    differing = [
        row for row, (translation, other) in enumerate(zip(translations, others, strict=True)) if translation != other
    ]
    sentences = scored_sentences(translations, others, references, evaluation, rows=differing)
    return sorted(sentences, key=lambda sentence: -abs(sentence.chrf - sentence.other_chrf))[:most]


def scored_sentences(
    translations: Lines, others: Lines, references: Lines, evaluation: EvaluationSettings, *, rows: Sequence[int]
) -> list[ScoredSentence]:
    """Score both translations of the sentences at some positions, in their order."""
    translated, other, compared = ([lines[row] for row in rows] for lines in (translations, others, references))
    counts = [METRICS["chrf"].count(lines, compared, evaluation) for lines in (translated, other)]
    scores = (counted.score(counted.counts_BF).tolist() for counted in counts)
    return [ScoredSentence(*values) for values in zip(rows, *scores, strict=True)]
