"""Small corpus files for the tests of later stages."""

from collections.abc import Sequence
from pathlib import Path

from nmtcore.corpus.pairs import PAIR_SCHEMA, RAW_SCHEMA
from nmtcore.parquet import write_rows
from nmtcore.syntax.annotation import COLUMNS, Annotation


def write_corpus(path: Path, sentences: Sequence[Sequence[str]], *, ids: Sequence[int] | None = None) -> Path:
    """Write pairs whose two sides are the same words; ids are 0, 1... by default."""
    ids = range(len(sentences)) if ids is None else ids
    write_rows(path, PAIR_SCHEMA, [pair_row(id, words) for id, words in zip(ids, sentences, strict=True)])
    return path


def write_raw(
    path: Path,
    sentences: Sequence[Sequence[str]],
    annotations: Sequence[Annotation | None],
    *,
    ids: Sequence[int] | None = None,
) -> Path:
    """Write raw pairs whose source side came with trees (None: without); ids are 0, 1... by default."""
    ids = range(len(sentences)) if ids is None else ids
    rows = [pair_row(id, words) for id, words in zip(ids, sentences, strict=True)]
    for row, annotation in zip(rows, annotations, strict=True):
        row["source_annotation"] = annotation and {column: getattr(annotation, column) for column in COLUMNS}
    write_rows(path, RAW_SCHEMA, rows)
    return path


def pair_row(id: int, words: Sequence[str]) -> dict:
    text = " ".join(words)
    sides = {"source": text, "target": text, "source_words": list(words), "target_words": list(words)}
    return {"id": id, **sides, "origin": f"test:{id + 1}"}
