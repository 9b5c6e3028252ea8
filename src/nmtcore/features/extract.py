"""From the files of words and annotations to the files of numbers that models read."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from nmtcore.annotation.labels import read_labels
from nmtcore.config.datasets import SegmentationSettings
from nmtcore.features.schema import LABELS, SYNTAX_SCHEMA, TOKENS_SCHEMA
from nmtcore.features.syntax import syntax_batch
from nmtcore.parquet import paired_batches, read_batches, row_writer
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary


def extract_tokens(
    *, corpus: Path, segmentation: Path, settings: SegmentationSettings, side: str, output: Path
) -> None:
    """Cut the words of one side of `corpus` and write `TOKENS_SCHEMA`; `segmentation` holds codes and vocabularies."""
    segmenter = Segmenter.load(segmentation, settings, side)
    vocabulary = Vocabulary.load(segmentation / f"{side}.vocab")
    with row_writer(output, TOKENS_SCHEMA) as writer:
        for batch in read_batches(corpus, columns=["id", f"{side}_words"]):
            cut = segmenter.many(batch.column(f"{side}_words").to_pylist())
            sentences = ((vocabulary.ids(pieces), words) for pieces, words in cut)
            writer.write_batch(token_batch(sentences, ids=batch.column("id")))


def token_batch(
    sentences: Iterable[tuple[Sequence[int], Sequence[int]]], *, ids: pa.Array | None = None
) -> pa.RecordBatch:
    """Write each sentence's (subword ids, word of each) as a batch of `TOKENS_SCHEMA`; `ids` are 0, 1... by default."""
    sentences = list(sentences)
    ids = pa.array(range(len(sentences)), pa.int64()) if ids is None else ids
    columns = [pa.array([sentence[k] for sentence in sentences], pa.list_(pa.int32())) for k in range(2)]
    return pa.RecordBatch.from_arrays([ids, *columns], schema=TOKENS_SCHEMA)


def extract_syntax(*, annotation: Path, labels: Path, tokens: Path, output: Path) -> None:
    """Write `SYNTAX_SCHEMA` for the sentences of `tokens`; both files hold the same pairs in the same rows.

    A row whose pair, number of words or heads do not fit together is a `UserError` that names it.
    """
    vocabularies = read_labels(labels)
    row = 0
    with row_writer(output, SYNTAX_SCHEMA) as writer:
        for cut, trees in paired_batches(tokens, annotation, columns=(["word_of_subword"], ["head", *LABELS])):
            writer.write_batch(syntax_batch(trees, cut, vocabularies, where=annotation, row=row))
            row += cut.num_rows
