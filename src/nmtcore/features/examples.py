"""Sentence pairs as subword ids and features of words, loaded from the feature files."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from nmtcore.config.features import FEATURES
from nmtcore.errors import UserError
from nmtcore.features.compact import blocks
from nmtcore.features.growing import GrowingArray, GrowingRagged
from nmtcore.features.ragged import Ragged
from nmtcore.features.schema import columns_of
from nmtcore.layout import file_name
from nmtcore.parquet import read_batches

_ID_COLUMNS = {"ids": np.dtype(np.int32), "word_of_subword": np.dtype(np.int32)}


NO_WORD = -1
"""The word of a position without a word: padding, `</s>`, a prefix, or a tag added by a transform."""


@dataclass(frozen=True, kw_only=True)
class SideExamples:
    """One side of sentence pairs.

    `ids` are subwords without `</s>`; `word_of_subword` is the word (from 0) of each, or `NO_WORD` for a tag that a
    transform has put before a word. `features` holds one sequence over *words* for each column of the requested
    features (`features.schema`): "governor" (see `syntax.trees`), "parent_position" (float, in subwords), "deprel"
    (label ids)...
    """

    ids: Ragged
    word_of_subword: Ragged
    features: dict[str, Ragged] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def word_counts(self) -> np.ndarray:
        """The number of words of every sentence: the word of its last subword, plus 1; 0 without subwords."""
        counts = np.zeros(len(self), dtype=np.int64)
        for block in blocks(len(self)):
            counts[block] = _count_words(self.word_of_subword, block)
        return counts

    @property
    def subword_counts(self) -> np.ndarray:
        """The number of subwords of every sentence that have a word, so without the tags of words."""
        return self.word_of_subword.count_other_values(NO_WORD)

    def take(self, rows: np.ndarray) -> "SideExamples":
        """Copy the sentences `rows` (indices, in any order)."""
        features = {name: values.take(rows) for name, values in self.features.items()}
        return SideExamples(ids=self.ids.take(rows), word_of_subword=self.word_of_subword.take(rows), features=features)

    def first(self, n: int) -> "SideExamples":
        """Return the first `n` sentences (all, if there are fewer)."""
        features = {name: values.first(n) for name, values in self.features.items()}
        return SideExamples(ids=self.ids.first(n), word_of_subword=self.word_of_subword.first(n), features=features)


def _count_words(word_of_subword: Ragged, block: slice) -> np.ndarray:
    """Return the number of words (int64) of each sentence of a block."""
    ends = word_of_subword.offsets[block.start + 1 : block.stop + 1]
    counts = np.zeros(len(ends), dtype=np.int64)
    not_empty = ends > word_of_subword.offsets[block]
    counts[not_empty] = word_of_subword.values[ends[not_empty] - 1]
    counts[not_empty] += 1
    return counts


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Sentence pairs. `id` (int64) is the row in the split before any filter; `target` is None for raw input."""

    id: np.ndarray
    source: SideExamples
    target: SideExamples | None = None

    def __len__(self) -> int:
        return len(self.id)

    def take(self, rows: np.ndarray) -> "Examples":
        """Copy the pairs `rows` (indices, in any order)."""
        target = None if self.target is None else self.target.take(rows)
        return Examples(id=self.id[rows], source=self.source.take(rows), target=target)

    def first(self, n: int) -> "Examples":
        """Return the first `n` pairs (all, if there are fewer)."""
        target = None if self.target is None else self.target.first(n)
        return Examples(id=self.id[:n], source=self.source.first(n), target=target)


def concatenate(blocks: Iterable[Examples]) -> Examples:
    """Concatenate blocks of examples (at least one) with the same columns; all have targets, or none.

    If `blocks` is a generator, memory holds at most one block in addition to the result.
    """
    ids, sides = GrowingArray(np.int64), {}
    for examples in blocks:
        ids.append(examples.id)
        for name, side in {"source": examples.source, "target": examples.target}.items():
            if side is not None:
                sides.setdefault(name, _GrowingSide()).append(side)
    return Examples(id=ids.finish(), **{name: side.finish() for name, side in sides.items()})


class _GrowingSide:
    """A `SideExamples` to which others can be appended."""

    def __init__(self) -> None:
        self._columns: dict[str, GrowingRagged] = {}

    def append(self, side: SideExamples) -> None:
        for name, column in {"ids": side.ids, "word_of_subword": side.word_of_subword, **side.features}.items():
            self._columns.setdefault(name, GrowingRagged(column.dtype)).append(column)

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
    is read. `target=False` reads only the source.

    Raises `UserError` if the ids of a row differ between files, or if the lengths of its lists do not match.
    """
    read = partial(_load_columns, rows=_RowRange(start, stop))
    return assemble_examples(Path(folder), split, read, features=features, start=start, target=target)


class _RowRange(NamedTuple):
    start: int
    stop: int | None


Check = Callable[[np.ndarray, Mapping[str, Ragged]], None]
"""A function of the ids and columns of a file that raises `UserError` if they do not match those of other files."""


class ReadColumns(Protocol):
    """A function that reads ids and columns from a feature file."""

    def __call__(
        self, path: Path, types: Mapping[str, np.dtype], *, check: Check, against: Sequence[Path]
    ) -> tuple[np.ndarray, dict[str, Ragged]]:
        """Read the ids and the columns with the given types, which `check` compares with the files `against`."""


def assemble_examples(
    folder: Path,
    split: str,
    read: ReadColumns,
    *,
    features: Mapping[str, Mapping[str, str]] | None = None,
    start: int = 0,
    target: bool = True,
) -> Examples:
    """Read the files of a split with `read`, and check that they match; see `load_examples`.

    `start` is the number of the first row that is read, for messages.
    """
    annotators = features or {}
    if unknown := set(annotators) - {"source", "target"}:
        raise ValueError(f"unknown side {sorted(unknown)[0]}: sides are source and target")
    if unknown := {feature for side in annotators.values() for feature in side} - set(FEATURES):
        raise ValueError(f"unknown feature {sorted(unknown)[0]}: features are {', '.join(FEATURES)}")
    source_ids, source = _read_side(folder, split, "source", annotators.get("source", {}), read, start=start)
    if not target:
        return Examples(id=source_ids, source=source)
    _, side = _read_side(folder, split, "target", annotators.get("target", {}), read, start=start, ids=source_ids)
    return Examples(id=source_ids, source=source, target=side)


def _read_side(
    folder: Path,
    split: str,
    side: str,
    annotators: Mapping[str, str],
    read: ReadColumns,
    *,
    start: int,
    ids: np.ndarray | None = None,
) -> tuple[np.ndarray, SideExamples]:
    """Read a side of a split. If it is the target, `ids` are those of the source."""
    path, source_path = (folder / file_name("tokens", split=split, side=name) for name in (side, "source"))

    def check_tokens(own_ids: np.ndarray, columns: Mapping[str, Ragged]) -> None:
        _check_words(path, own_ids, columns)
        if ids is not None:
            check_ids(ids, own_ids, source_path, path, start)

    own_ids, columns = read(path, _ID_COLUMNS, check=check_tokens, against=() if ids is None else (source_path,))
    tokens = SideExamples(**columns)

    def check_features(features_ids: np.ndarray, columns: Mapping[str, Ragged], *, features_path: Path) -> None:
        check_ids(own_ids, features_ids, path, features_path, start)
        for block in blocks(len(own_ids)):
            counts = _count_words(tokens.word_of_subword, block)
            for name, values in columns.items():
                _check_list_lengths(features_path, own_ids, values, counts, name, "words", block)

    added: dict[str, Ragged] = {}
    for annotator, features in group_by_annotator(annotators).items():
        features_path = folder / file_name("syntax", split=split, side=side, annotator=annotator)
        check = partial(check_features, features_path=features_path)
        added |= read(features_path, columns_of(features), check=check, against=(path,))[1]
    return own_ids, replace(tokens, features=added)


def _check_words(path: Path, ids: np.ndarray, columns: Mapping[str, Ragged]) -> None:
    """Raise `UserError` unless each subword has a word."""
    for block in blocks(len(ids)):
        lengths = np.diff(columns["ids"].offsets[block.start : block.stop + 1])
        _check_list_lengths(path, ids, columns["word_of_subword"], lengths, "word_of_subword", "subwords", block)


def group_by_annotator(annotators: Mapping[str, str]) -> dict[str, list[str]]:
    """Turn {feature: annotator} into {annotator: [feature, ...]}."""
    grouped: dict[str, list[str]] = {}
    for feature, annotator in annotators.items():
        grouped.setdefault(annotator, []).append(feature)
    return grouped


def _load_columns(
    path: Path, types: Mapping[str, np.dtype], *, check: Check, against: Sequence[Path], rows: _RowRange
) -> tuple[np.ndarray, dict[str, Ragged]]:
    ids, columns = GrowingArray(np.int64), {name: GrowingRagged(dtype) for name, dtype in types.items()}
    for batch_ids, batch in read_columns(path, types, start=rows.start, stop=rows.stop):
        ids.append(batch_ids)
        for name, column in batch.items():
            columns[name].append(column)
    loaded = ids.finish(), {name: column.finish() for name, column in columns.items()}
    check(*loaded)
    return loaded


def read_columns(
    path: Path, types: Mapping[str, np.dtype], *, start: int = 0, stop: int | None = None
) -> Iterator[tuple[np.ndarray, dict[str, Ragged]]]:
    """Yield the ids and the columns with given types of the rows start..stop-1 of a feature file, batch by batch.

    Raises `UserError` if a column is missing or has nulls.
    """
    for batch in read_batches(path, columns=["id", *types], start=start, stop=stop):
        if missing := [name for name in ("id", *types) if name not in batch.schema.names]:
            raise UserError(f"{path} has no column {missing[0]}: delete it and run the workflow again.")
        ids = batch.column("id").to_numpy(zero_copy_only=False)
        columns = {name: _required_column(batch.column(name), dtype, path, name, ids) for name, dtype in types.items()}
        yield ids, columns


def ragged_column(column: pa.ListArray, dtype: np.dtype) -> Ragged:
    """Read a column of lists; null becomes an empty list."""
    values = column.flatten().to_numpy(zero_copy_only=False)
    return Ragged.from_lengths(values.astype(dtype), column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))


def _required_column(column: pa.ListArray, dtype: np.dtype, path: Path, name: str, ids: np.ndarray) -> Ragged:
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise UserError(
            f"{path}: the row with id {ids[row]} has no {name}: delete the file and run the workflow again."
        )
    return ragged_column(column, dtype)


def check_ids(ids: np.ndarray, other_ids: np.ndarray, path: Path, other_path: Path, start: int = 0) -> None:
    """Raise `UserError` if the ids of two files, from row `start`, differ."""
    check_counts(start + len(ids), start + len(other_ids), path, other_path)
    if (ids != other_ids).any():
        row = int(np.flatnonzero(ids != other_ids)[0])
        raise UserError(
            f"Row {start + row} is pair {ids[row]} in {path}, but pair {other_ids[row]} in {other_path}: "
            "delete the older file and run the workflow again."
        )


def check_counts(count: int, other_count: int, path: Path, other_path: Path) -> None:
    """Raise `UserError` if the numbers of rows of two files differ."""
    if count != other_count:
        raise UserError(
            f"{path} has {count} rows, but {other_path} has {other_count}: delete the older file and run the workflow "
            "again."
        )


def _check_list_lengths(
    path: Path, ids: np.ndarray, values: Ragged, expected: np.ndarray, name: str, unit: str, block: slice
) -> None:
    """Raise `UserError` unless the lists `values` of a block of rows have the `expected` lengths."""
    lengths = np.diff(values.offsets[block.start : block.stop + 1])
    if (lengths != expected).any():
        row = int(np.flatnonzero(lengths != expected)[0])
        raise UserError(
            f"{path}: the row with id {ids[block][row]} has {lengths[row]} values in {name}, but {expected[row]} "
            f"{unit}: delete the file and run the workflow again."
        )
