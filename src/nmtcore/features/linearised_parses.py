"""Linearised parses of source sentences, cut into subwords like targets."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from nmtcore.annotation.selection import selected_batches
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.features.examples import SideExamples, ragged_column
from nmtcore.features.extract import token_lists
from nmtcore.features.growing import GrowingArray, GrowingRagged
from nmtcore.layout import file_name
from nmtcore.parquet import read_batches, row_writer
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary

LINEARISED_TOKENS_SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("ids", pa.list_(pa.int32())),
        pa.field("word_of_subword", pa.list_(pa.int32())),
    ]
)
"""`features/{segmentation}/{split}.source.{annotator}.brackets.parquet`: one row per pair, as in `TOKENS_SCHEMA`, but
null if the source has no parse."""


@dataclass(frozen=True, kw_only=True)
class LinearisedParses:
    """The linearised parses of source sentences."""

    available: np.ndarray
    """Whether each source has a parse (bool)."""
    target: SideExamples
    """The parses as subwords of the target's vocabulary; empty for a source without a parse."""


def extract_linearised_parses(
    *,
    linearised_parses: Path,
    segmentation: Path,
    settings: SegmentationSettings,
    output: Path,
    selection: Path | None = None,
) -> None:
    """Cut linearised parses into subwords by the target side's segmentation; write `LINEARISED_TOKENS_SCHEMA`.

    Only the rows that `selection` keeps are written, with their ids.
    """
    segmenter = Segmenter.load(segmentation, settings, "target")
    vocabulary = Vocabulary.load(segmentation / file_name("vocabulary", side="target"))
    with row_writer(output, LINEARISED_TOKENS_SCHEMA) as writer:
        for batch in selected_batches(linearised_parses, selection, columns=["id", "brackets"]):
            parses = batch.column("brackets")
            lists = token_lists(segmenter.segment_batch(parses), vocabulary, mask=parses.is_null())
            writer.write_batch(
                pa.RecordBatch.from_arrays([batch.column("id"), *lists], schema=LINEARISED_TOKENS_SCHEMA)
            )


def load_linearised_parses(
    path: Path, *, start: int = 0, stop: int | None = None
) -> tuple[np.ndarray, LinearisedParses]:
    """Load the ids and the linearised parses of the rows start..stop-1."""
    ids, available = GrowingArray(np.int64), GrowingArray(bool)
    columns = {name: GrowingRagged(np.int32) for name in LINEARISED_TOKENS_SCHEMA.names[1:]}
    for batch in read_batches(path, columns=LINEARISED_TOKENS_SCHEMA.names, start=start, stop=stop):
        ids.append(batch.column("id").to_numpy(zero_copy_only=False))
        available.append(batch.column("ids").is_valid().to_numpy(zero_copy_only=False))
        for name, column in columns.items():
            column.append(ragged_column(batch.column(name), np.dtype(np.int32)))
    target = SideExamples(**{name: column.finish() for name, column in columns.items()})
    return ids.finish(), LinearisedParses(available=available.finish(), target=target)
