"""Sentence pairs as ids with their syntax, loaded from the feature files."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from nmtcore.config.features import FEATURES
from nmtcore.errors import UserError
from nmtcore.features.growing import GrowingArray, GrowingRagged
from nmtcore.features.ragged import Ragged
from nmtcore.features.schema import columns_of
from nmtcore.layout import file_name
from nmtcore.parquet import read_batches

_ID_COLUMNS = {"ids": np.dtype(np.int32), "word_of_subword": np.dtype(np.int32)}


NO_WORD = -1
"""The word of a place that has none: padding, `</s>`, what stands before the sentence or a transform put in."""


@dataclass(frozen=True, kw_only=True)
class SideExamples:
    """One side of many pairs.

    `ids` are subwords without the end of sentence; `word_of_subword` is as long and counts words from 0.
    `features` holds a sequence over *words* per column of the requested features (`features.schema`):
    "governor" (see `syntax.trees`), "parent_position" (float, in subwords), "deprel" (label ids)...; it is
    empty where none was.
    """

    ids: Ragged
    word_of_subword: Ragged
    features: dict[str, Ragged] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def word_counts(self) -> np.ndarray:
        """The number of words of every sentence (N,): the last subword's word, plus 1."""
        counts = np.zeros(len(self), dtype=np.int64)
        full = self.word_of_subword.lengths > 0
        counts[full] = self.word_of_subword.values[self.word_of_subword.offsets[1:][full] - 1] + 1
        return counts

    def take(self, rows: np.ndarray) -> "SideExamples":
        """Copy the rows `rows`."""
        features = {name: values.take(rows) for name, values in self.features.items()}
        return SideExamples(ids=self.ids.take(rows), word_of_subword=self.word_of_subword.take(rows), features=features)

    def first(self, n: int) -> "SideExamples":
        """Give the first `n` rows."""
        features = {name: values.first(n) for name, values in self.features.items()}
        return SideExamples(ids=self.ids.first(n), word_of_subword=self.word_of_subword.first(n), features=features)


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Sentence pairs; `id` (int64) is the row of the split before any filter. `target` is None for raw input."""

    id: np.ndarray
    source: SideExamples
    target: SideExamples | None = None

    def __len__(self) -> int:
        return len(self.id)

    def take(self, rows: np.ndarray) -> "Examples":
        """Copy the rows `rows` (indices, in any order)."""
        target = None if self.target is None else self.target.take(rows)
        return Examples(id=self.id[rows], source=self.source.take(rows), target=target)

    def first(self, n: int) -> "Examples":
        """Give the first `n` pairs (all, where there are fewer)."""
        target = None if self.target is None else self.target.first(n)
        return Examples(id=self.id[:n], source=self.source.first(n), target=target)


def concatenate(several: Iterable[Examples]) -> Examples:
    """Put examples (at least one) after one another as they come; all have the same columns, and targets or none.

    Where `several` are made one by one, no more than one is held beside what has been put together.
    """
    ids, sides = GrowingArray(np.int64), {}
    for examples in several:
        ids.append(examples.id)
        for name, side in {"source": examples.source, "target": examples.target}.items():
            if side is not None:
                sides.setdefault(name, _GrowingSide()).append(side)
    return Examples(id=ids.finish(), **{name: side.finish() for name, side in sides.items()})


class _GrowingSide:
    """One side of examples, to which others are appended."""

    def __init__(self) -> None:
        self._columns: dict[str, GrowingRagged] = {}

    def append(self, side: SideExamples) -> None:
        for name, column in {"ids": side.ids, "word_of_subword": side.word_of_subword, **side.features}.items():
            self._columns.setdefault(name, GrowingRagged(column.values.dtype)).append(column)

    def finish(self) -> SideExamples:
        columns = {name: column.finish() for name, column in self._columns.items()}
        return SideExamples(ids=columns.pop("ids"), word_of_subword=columns.pop("word_of_subword"), features=columns)


def load_examples(
    folder: Path,
    split: str,
    *,
    features: Mapping[str, Mapping[str, str]] | None = None,
    start: int = 0,
    stop: int | None = None,
    target: bool = True,
) -> Examples:
    """Load the rows start..stop-1 of a split from `folder` (a data set's features under one segmentation).

    `features` names the annotator of each requested feature by side, {"source": {"trees": "stanza"}}; no other column
    is read. `target=False` reads the source alone.

    Raises `UserError` where files disagree on a row's id, or a row's lists on their lengths.
    """
    annotators = features or {}
    if unknown := set(annotators) - {"source", "target"}:
        raise ValueError(f"unknown side {sorted(unknown)[0]}: sides are source and target")
    if unknown := {feature for side in annotators.values() for feature in side} - set(FEATURES):
        raise ValueError(f"unknown feature {sorted(unknown)[0]}: features are {', '.join(FEATURES)}")
    rows = (start, stop)
    ids, source = _load_side(Path(folder), split, "source", annotators.get("source", {}), rows)
    if not target:
        return Examples(id=ids, source=source)
    target_ids, target_side = _load_side(Path(folder), split, "target", annotators.get("target", {}), rows)
    path, other = (Path(folder) / file_name("tokens", split=split, side=side) for side in ("source", "target"))
    check_ids(ids, target_ids, path, other, start)
    return Examples(id=ids, source=source, target=target_side)


def _load_side(
    folder: Path, split: str, side: str, annotators: Mapping[str, str], rows: tuple[int, int | None]
) -> tuple[np.ndarray, SideExamples]:
    path = folder / file_name("tokens", split=split, side=side)
    ids, columns = _load_columns(path, _ID_COLUMNS, rows)
    words = columns["word_of_subword"]
    _check_lengths(path, ids, words.lengths, columns["ids"].lengths, "word_of_subword", "subwords")
    tokens = SideExamples(ids=columns["ids"], word_of_subword=words)
    counts, columns = tokens.word_counts, {}
    for annotator, features in group_by_annotator(annotators).items():
        other = folder / file_name("syntax", split=split, side=side, annotator=annotator)
        other_ids, found = _load_columns(other, columns_of(features), rows)
        check_ids(ids, other_ids, path, other, rows[0])
        for name, values in found.items():
            _check_lengths(other, ids, values.lengths, counts, name, "words")
        columns |= found
    return ids, replace(tokens, features=columns)


def group_by_annotator(annotators: Mapping[str, str]) -> dict[str, list[str]]:
    """Group features, each with its annotator, by the annotator."""
    grouped: dict[str, list[str]] = {}
    for feature, annotator in annotators.items():
        grouped.setdefault(annotator, []).append(feature)
    return grouped


def _load_columns(
    path: Path, types: Mapping[str, np.dtype], rows: tuple[int, int | None]
) -> tuple[np.ndarray, dict[str, Ragged]]:
    ids, columns = GrowingArray(np.int64), {name: GrowingRagged(dtype) for name, dtype in types.items()}
    start, stop = rows
    for batch in read_batches(path, columns=["id", *types], start=start, stop=stop):
        if missing := [name for name in ("id", *types) if name not in batch.schema.names]:
            raise UserError(f"{path} has no column {missing[0]}: delete it and run the workflow again.")
        batch_ids = batch.column("id").to_numpy(zero_copy_only=False)
        ids.append(batch_ids)
        for name, dtype in types.items():
            columns[name].append(_ragged(batch.column(name), dtype, path, name, batch_ids))
    return ids.finish(), {name: column.finish() for name, column in columns.items()}


def ragged_column(column: pa.ListArray, dtype: np.dtype) -> Ragged:
    """Read a column of lists; null counts as an empty one."""
    values = column.flatten().to_numpy(zero_copy_only=False)
    return Ragged.from_lengths(values.astype(dtype), column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))


def _ragged(column: pa.ListArray, dtype: np.dtype, path: Path, name: str, ids: np.ndarray) -> Ragged:
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise UserError(
            f"{path}: the row with id {ids[row]} has no {name}: delete the file and run the workflow again."
        )
    return ragged_column(column, dtype)


def check_ids(ids: np.ndarray, others: np.ndarray, path: Path, other: Path, start: int = 0) -> None:
    """Raise a `UserError` where two files, with the ids `ids` and `others` from row `start`, hold other pairs."""
    check_counts(start + len(ids), start + len(others), path, other)
    if (ids != others).any():
        row = int(np.flatnonzero(ids != others)[0])
        raise UserError(
            f"Row {start + row} is pair {ids[row]} in {path}, but pair {others[row]} in {other}: "
            "delete the older of them and run the workflow again."
        )


def check_counts(count: int, others: int, path: Path, other: Path) -> None:
    """Raise a `UserError` where two files have not equally many rows, `count` and `others`."""
    if count != others:
        raise UserError(
            f"{path} has {count} rows, {other} {others}: delete the older of them and run the workflow again."
        )


def _check_lengths(
    path: Path, ids: np.ndarray, lengths: np.ndarray, expected: np.ndarray, name: str, unit: str
) -> None:
    if (lengths != expected).any():
        row = int(np.flatnonzero(lengths != expected)[0])
        raise UserError(
            f"{path}: the row with id {ids[row]} has {lengths[row]} entries in {name} for {expected[row]} {unit}: "
            "delete the file and run the workflow again."
        )
