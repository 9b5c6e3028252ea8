"""Schemas of the feature files: the numbers that models read instead of text and trees."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from nmtcore.config.features import FEATURES

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
    """Return the columns of some features with their types, in the order of `FEATURES`."""
    selected = set(features)
    return {
        column: np.dtype(np.float32 if column in FLOATS else np.int32)
        for name, feature in FEATURES.items()
        if name in selected
        for column in feature.columns
    }


def syntax_schema(features: Iterable[str]) -> pa.Schema:
    """Return the schema of `features/{segmentation}/{split}.{side}.{annotator}.parquet`, with lists over words.

    governor           the governor (a word, from 0), or a sentinel of `syntax.trees`
    parent_position    mean position (from 0) of the governor's subwords; of the word's own, if it has no governor
    all others         ids of labels (see `annotation.labels`)
    """
    fields = [
        pa.field(column, pa.list_(pa.from_numpy_dtype(dtype)), nullable=False)
        for column, dtype in columns_of(features).items()
    ]
    return pa.schema([_ID, *fields])


def labels_of(features: Iterable[str]) -> tuple[str, ...]:
    """Name the label vocabularies of some features, in the order of `FEATURES`."""
    selected = set(features)
    return tuple(label for name, feature in FEATURES.items() if name in selected for label in feature.labels)
