"""Sentence pairs as subword ids and features of words, and the files that they are loaded from."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from nmtcore.config.corpora import SIDES
from nmtcore.config.features import FEATURES, feature_named, stored_column
from nmtcore.features.ragged import Ragged, concatenate_columns
from nmtcore.layout import file_name
from nmtcore.parquet import check_ids, read_batches

_ID = pa.field("id", pa.int64(), nullable=False)
_IDS = pa.list_(pa.int32())

TOKENS_SCHEMA = pa.schema(
    [
        _ID,
        pa.field("ids", _IDS, nullable=False),
        pa.field("word_of_subword", _IDS, nullable=False),
    ]
)
"""`features/{segmentation}/{split}.{side}.parquet`: subword ids without `</s>`, and the word (from 0) of each."""

LINEARISED_TOKENS_SCHEMA = pa.schema([_ID, pa.field("ids", _IDS), pa.field("word_of_subword", _IDS)])
"""`features/{segmentation}/{split}.source.{annotator}.brackets.parquet`: as `TOKENS_SCHEMA`, but null if the source has
no parse."""

FLOATS = {"parent_position"}
"""The columns of floats; all others are integers."""


def features_of(annotation_names: Iterable[str]) -> tuple[str, ...]:
    """Name the features that are computed from some annotations, in the order of `FEATURES`."""
    available = set(annotation_names)
    return tuple(name for name, feature in FEATURES.items() if feature.annotation in available)


def columns_of(features: Iterable[str]) -> dict[str, np.dtype]:
    """Return the columns of some features with their types, in the order of `FEATURES`; other features follow."""
    return {
        column: np.dtype(np.float32 if column in FLOATS else np.int32)
        for name in _in_order(features)
        for column in feature_named(name).columns
    }


def syntax_schema(features: Iterable[str]) -> pa.Schema:
    """Return the schema of `features/{segmentation}/{split}.{side}.{annotator}.parquet`, with lists over words.

    governor           the governor (a word, from 0), or a sentinel of `syntax.trees`
    parent_position    mean position (from 0) of the governor's subwords; of the word's own, if it has no governor
    all others         ids of labels (see `annotation.labels`)
    """
    fields = [
        pa.field(_name_in_file(column), pa.list_(pa.from_numpy_dtype(dtype)), nullable=False)
        for column, dtype in columns_of(features).items()
    ]
    return pa.schema([_ID, *fields])


def labels_of(features: Iterable[str]) -> tuple[str, ...]:
    """Name the label vocabularies of some features, in the order of `columns_of`."""
    return tuple(label for name in _in_order(features) for label in feature_named(name).labels)


def _name_in_file(column: str) -> str:
    return stored_column(column).replace(".", "_")  # Parquet's names of columns have no dots


def _in_order(features: Iterable[str]) -> list[str]:
    selected = set(features)
    return [*(name for name in FEATURES if name in selected), *sorted(selected - FEATURES.keys())]


NO_WORD = -1
"""The word of a position without a word: padding, `</s>`, a prefix, or a tag added by a transform."""
_TOKENS = {"ids": np.dtype(np.int32), "word_of_subword": np.dtype(np.int32)}


@dataclass(frozen=True, kw_only=True)
class SideExamples:
    """One side of sentence pairs.

    `ids` are subwords without `</s>`; `word_of_subword` is the word (from 0) of each, or `NO_WORD` for a tag that a
    transform has put before a word. `features` holds one sequence over *words* for each column of the requested
    features (`syntax_schema`): "governor" (see `syntax.trees`), "parent_position" (float, in subwords), "deprel"
    (label ids)...
    """

    ids: Ragged
    word_of_subword: Ragged
    features: dict[str, Ragged] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Mapping[str, Ragged]) -> "SideExamples":
        """Make a side from its `columns`."""
        features = {name: column for name, column in columns.items() if name not in _TOKENS}
        return cls(**{name: columns[name] for name in _TOKENS}, features=features)

    @property
    def columns(self) -> dict[str, Ragged]:
        """All columns, by name."""
        return {"ids": self.ids, "word_of_subword": self.word_of_subword, **self.features}

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def word_counts(self) -> np.ndarray:
        """The number of words of every sentence: the word of its last subword, plus 1; 0 without subwords."""
        return words_per_sentence(self.word_of_subword)

    @property
    def subword_counts(self) -> np.ndarray:
        """The number of subwords of every sentence that have a word, so without the tags of words."""
        return self.word_of_subword.count_other_values(NO_WORD)

    def take(self, rows: np.ndarray) -> "SideExamples":
        """Copy the sentences `rows` (indices, in any order)."""
        return SideExamples.of({name: column.take(rows) for name, column in self.columns.items()})


def words_per_sentence(word_of_subword: Ragged) -> np.ndarray:
    """Return the number of words (int64) of each sentence."""
    starts, ends = word_of_subword.offsets[:-1], word_of_subword.offsets[1:]
    counts = np.zeros(len(word_of_subword), dtype=np.int64)
    counts[ends > starts] = word_of_subword.values[ends[ends > starts] - 1]
    counts[ends > starts] += 1
    return counts


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Sentence pairs. `id` (int64) is the row in the split before any filter; `target` is None for raw input."""

    id: np.ndarray
    source: SideExamples
    target: SideExamples | None = None

    @classmethod
    def of(cls, id: np.ndarray, columns: Mapping[str, Ragged]) -> "Examples":
        """Make examples from ids and their `columns`."""
        sides: dict[str, dict[str, Ragged]] = {}
        for name, column in columns.items():
            side, _, own_name = name.partition(".")
            sides.setdefault(side, {})[own_name] = column
        return cls(id=id, **{side: SideExamples.of(side_columns) for side, side_columns in sides.items()})

    @property
    def columns(self) -> dict[str, Ragged]:
        """The columns of both sides, by names such as `source.ids`."""
        sides = {"source": self.source} if self.target is None else {"source": self.source, "target": self.target}
        return {
            f"{side}.{name}": column for side, examples in sides.items() for name, column in examples.columns.items()
        }

    def __len__(self) -> int:
        return len(self.id)

    def take(self, rows: np.ndarray) -> "Examples":
        """Copy the pairs `rows` (indices, in any order)."""
        target = None if self.target is None else self.target.take(rows)
        return Examples(id=self.id[rows], source=self.source.take(rows), target=target)


def concatenate(blocks: Iterable[Examples]) -> Examples:
    """Concatenate blocks of examples (at least one) with the same columns; all have targets, or none.

    Integers get the smallest types, those of a block at once: memory needs room for one block and one column more.
    """
    return Examples.of(*concatenate_columns((examples.id, examples.columns) for examples in blocks))


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
    is read. `target=False` reads only the source. Integers have the smallest types.

    Raises `UserError` if the ids of a row differ between files.
    """
    ids, sides = {}, {}

    def read(name: str, types: Mapping[str, np.dtype]) -> dict[str, Ragged]:
        ids[folder / name], columns = concatenate_columns(read_columns(folder / name, types, start=start, stop=stop))
        first = next(iter(ids))
        check_ids(ids[first], ids[folder / name], files=(first, folder / name), rows=(start, start))
        return columns

    for side in SIDES if target else SIDES[:1]:
        columns = read(file_name("tokens", split=split, side=side), _TOKENS)
        for source, names in group_by_file((features or {}).get(side, {})).items():
            syntax = file_name("syntax", split=split, side=side, annotator=source)
            columns |= read(syntax, columns_of(names))
        sides[side] = SideExamples.of(columns)
    return Examples(id=next(iter(ids.values())), **sides)


def group_by_file(annotators: Mapping[str, str]) -> dict[str, list[str]]:
    """Turn {feature: annotator} into {what their file is named after: [feature, ...]}."""
    return group_by_annotator({name: feature_named(name).file_source(by) for name, by in annotators.items()})


def group_by_annotator(annotators: Mapping[str, str]) -> dict[str, list[str]]:
    """Turn {feature: annotator} into {annotator: [feature, ...]}."""
    grouped: dict[str, list[str]] = {}
    for feature, annotator in annotators.items():
        grouped.setdefault(annotator, []).append(feature)
    return grouped


def read_columns(
    path: Path, types: Mapping[str, np.dtype], *, start: int = 0, stop: int | None = None
) -> Iterator[tuple[np.ndarray, dict[str, Ragged]]]:
    """Yield the ids and the columns with given types of the rows start..stop-1 of a feature file, batch by batch.

    The first batch is empty. Raises `UserError` if a column is missing.
    """
    yield np.zeros(0, np.int64), {name: Ragged.from_lists([], dtype) for name, dtype in types.items()}
    for batch in read_batches(path, columns=["id", *map(_name_in_file, types)], start=start, stop=stop):
        ids = batch.column("id").to_numpy(zero_copy_only=False)
        yield ids, {name: ragged_column(batch.column(_name_in_file(name)), dtype) for name, dtype in types.items()}


def ragged_column(column: pa.ListArray, dtype: np.dtype) -> Ragged:
    """Read a column of lists; null becomes an empty list."""
    values = column.flatten().to_numpy(zero_copy_only=False)
    return Ragged.from_lengths(values.astype(dtype), column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))


@dataclass(frozen=True, kw_only=True)
class LinearisedParses:
    """The linearised parses of source sentences."""

    available: np.ndarray
    """Whether each source has a parse (bool)."""
    target: SideExamples
    """The parses as subwords of the target's vocabulary; empty for a source without a parse."""


def load_linearised_parses(
    path: Path, *, start: int = 0, stop: int | None = None
) -> tuple[np.ndarray, LinearisedParses]:
    """Load the ids and the linearised parses of the rows start..stop-1."""
    batches = read_batches(path, columns=LINEARISED_TOKENS_SCHEMA.names, start=start, stop=stop)
    table = pa.Table.from_batches(batches, LINEARISED_TOKENS_SCHEMA)
    columns = {name: table.column(name).combine_chunks() for name in LINEARISED_TOKENS_SCHEMA.names}
    target = SideExamples.of({name: ragged_column(columns[name], dtype) for name, dtype in _TOKENS.items()})
    available = columns["ids"].is_valid().to_numpy(zero_copy_only=False)
    return columns["id"].to_numpy(), LinearisedParses(available=available, target=target)
