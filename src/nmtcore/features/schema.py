"""The Parquet files of the features stage: what models read instead of text and trees."""

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
"""`features/{segmentation}/{split}.{side}.parquet`: subword ids without `</s>`, and the word (0-based) of each."""

FLOATS = {"parent_position"}
"""The columns that are no whole numbers."""


def features_of(annotation_names: Iterable[str]) -> tuple[str, ...]:
    """Name the features that are made of some annotation_names of annotation, in the order of `FEATURES`."""
    given = set(annotation_names)
    return tuple(name for name, feature in FEATURES.items() if feature.annotation in given)


def columns_of(features: Iterable[str]) -> dict[str, np.dtype]:
    """Give the columns of some features, in the order of `FEATURES`, with their types."""
    wanted = set(features)
    return {
        column: np.dtype(np.float32 if column in FLOATS else np.int32)
        for name, feature in FEATURES.items()
        if name in wanted
        for column in feature.columns
    }


def syntax_schema(features: Iterable[str]) -> pa.Schema:
    """Describe `features/{segmentation}/{split}.{side}.{annotator}.parquet`: every list has one entry a word.

    governor           the governor (0-based word), or what `syntax.trees` has for a root and for nothing known
    parent_position    mean position of the governor's subwords (0-based), the word's own where it has no governor
    all others         ids of labels (see `annotation.labels`)
    """
    fields = [
        pa.field(column, pa.list_(pa.from_numpy_dtype(dtype)), nullable=False)
        for column, dtype in columns_of(features).items()
    ]
    return pa.schema([_ID, *fields])


def labels_of(features: Iterable[str]) -> tuple[str, ...]:
    """Name the label vocabularies of some features, in the order of `FEATURES`."""
    wanted = set(features)
    return tuple(label for name, feature in FEATURES.items() if name in wanted for label in feature.labels)
