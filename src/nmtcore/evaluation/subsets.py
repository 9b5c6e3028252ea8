"""Subsets of a test set by what the annotation of a side shows: constructions by supertags, phrases by constituents."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nmtcore.errors import UserError
from nmtcore.parquet import read_rows, row_count
from nmtcore.syntax.categories import CONSTRUCTIONS, constructions
from nmtcore.syntax.constituents import parse_constituents, phrase_labels

FEW = 30
"""Sentences below which a subset is marked as too small to conclude anything from."""


@dataclass(frozen=True, kw_only=True)
class Subsets:
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
    """Find the sentences with each construction, all of them in the order of `CONSTRUCTIONS`; None: no analysis."""
    shown = [None if categories is None else constructions(categories) for categories in supertags]
    return _subsets(CONSTRUCTIONS, shown)


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
