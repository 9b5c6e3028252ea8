"""Extraction of features: from files of words and annotations to files of numbers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from nmtcore.annotation.labels import read_labels
from nmtcore.annotation.selection import selected_batches
from nmtcore.config.corpora import SegmentationSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import TOKENS_SCHEMA, features_of, ragged_column, syntax_schema
from nmtcore.features.syntax import ANNOTATION_COLUMNS, AnnotatedWords, syntax_batch
from nmtcore.layout import file_name
from nmtcore.parquet import paired_streams, read_batches, row_writer
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary


def extract_subwords(
    *,
    words: Path,
    column: str,
    segmentation: Path,
    settings: SegmentationSettings,
    side: str,
    output: Path,
    schema: pa.Schema = TOKENS_SCHEMA,
    selection: Path | None = None,
) -> None:
    """Cut a `column` of the file `words` into subwords as the words of one side, and write them as `schema`.

    `segmentation` is the folder of codes and vocabularies. Only the rows that `selection` keeps are written, with
    their ids. With `LINEARISED_TOKENS_SCHEMA`, there may be nulls, and they stay null. Pieces are of the side's text.
    """
    columns = ["id", column, *([side] if settings.kind == "sentencepiece" else [])]
    segmenter = Segmenter.load(segmentation, settings, side)
    vocabulary = Vocabulary.load(segmentation / file_name("vocabulary", side=side))
    with row_writer(output, schema) as writer:
        for batch in selected_batches(words, selection, columns=columns):
            for id, words_of_sentence, *text in zip(*batch.to_pydict().values(), strict=True):
                row = {"id": id}
                if words_of_sentence is not None:
                    subwords = segmenter.segment(words_of_sentence, *text)
                    row |= {"ids": vocabulary.ids(subwords.pieces), "word_of_subword": subwords.word_of_subword}
                writer.write(row)
    if segmenter.counts:
        print(f"{output}: " + ", ".join(f"{count:,} {name}" for name, count in segmenter.counts.items()))


def extract_syntax(
    *,
    annotation: Path,
    labels: Path,
    tokens: Path,
    output: Path,
    side: str,
    annotation_names: Sequence[str] = (),
    column: str | None = None,
    selection: Path | None = None,
) -> None:
    """Write the features made from `annotation_names`, or a `column`, for the sentences of `tokens` (`syntax_schema`).

    The rows of `annotation` that `selection` keeps must be the pairs of `tokens`, in the same order. Raises
    `UserError`, naming the pair, if they are not, or if words or heads do not match.
    """
    features = (column,) if column else features_of(annotation_names)
    if not features:
        names = " and ".join(annotation_names)
        raise UserError(f"{output}: no features are computed from {names}; request the annotation file instead.")
    vocabularies = read_labels(labels, [column]) if column else read_labels(labels)
    columns = [column.partition(".")[0]] if column else ANNOTATION_COLUMNS
    streams = (
        read_batches(tokens, columns=["id", "word_of_subword"]),
        selected_batches(annotation, selection, columns=["id", *columns]),
    )
    with row_writer(output, syntax_schema(features)) as writer:
        for subwords, trees in paired_streams(*streams, files=(tokens, annotation)):
            words = ragged_column(subwords.column("word_of_subword"), np.dtype(np.int64))
            annotated = AnnotatedWords(
                annotation=trees, word_of_subword=words, labels=vocabularies, side=side, where=annotation
            )
            writer.write_batch(syntax_batch(annotated, features))
