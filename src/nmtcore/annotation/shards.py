"""A split is annotated in shards, each a contiguous range of rows, and gathered by concatenation."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nmtcore.annotation.base import INVALID, AnnotationTask, NumberedSentence, guarded, open_annotator
from nmtcore.annotation.selection import GIVEN, has_kind
from nmtcore.config.annotators import AnnotatorSettings
from nmtcore.corpus.pairs import ANNOTATION_FIELDS
from nmtcore.errors import UserError
from nmtcore.files import write_json
from nmtcore.parquet import RowWriter, paired_batches, read_batches, row_count, row_writer
from nmtcore.syntax.annotation import COLUMNS, Annotation
from nmtcore.syntax.shape import forest_shape

ANNOTATION_SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), *ANNOTATION_FIELDS])
"""`annotation/{annotator}/{split}.{side}.parquet`: a row a pair of `corpus/{split}.parquet`, in its order."""

_LABELS = ("deprel", "upos", "xpos", "ccg")


def shard_rows(count: int, shard: int, shards: int) -> tuple[int, int]:
    """Give the rows start..stop-1 of `count` that shard `shard` of `shards` holds (from 0); sizes differ by 1."""
    if not 0 <= shard < shards:
        raise ValueError(f"shard {shard} is not among {shards} shards")
    return count * shard // shards, count * (shard + 1) // shards


def annotate_shard(
    settings: AnnotatorSettings,
    *,
    corpus: Path,
    raw: Path,
    side: str,
    language: str,
    shard: int,
    shards: int,
    output: Path,
    model_folders: Sequence[Path] = (),
) -> None:
    """Annotate the words of one side of one shard of `corpus` and write `output`: a row a pair, in order."""
    start, stop = shard_rows(row_count(corpus), shard, shards)
    task = AnnotationTask(side=side, language=language, raw=raw, model_folders=tuple(model_folders))
    with open_annotator(settings, task) as annotator, row_writer(output, ANNOTATION_SCHEMA) as writer:
        sentences = _sentences(corpus, f"{side}_words", start=start, stop=stop)
        for sentence, annotation in guarded(annotator, sentences, max_words=settings.max_words):
            writer.write(annotation_row(sentence.id, annotation))


def annotation_row(id: int, annotation: Annotation) -> dict[str, Any]:
    """Write an annotation as a row of `ANNOTATION_SCHEMA`."""
    return {"id": id, **{column: getattr(annotation, column) for column in COLUMNS}}


def annotation_batch(annotations: Iterable[Annotation]) -> pa.RecordBatch:
    """Write annotations as a batch of `ANNOTATION_SCHEMA`, numbered from 0: what features of new text are made of."""
    rows = [annotation_row(number, annotation) for number, annotation in enumerate(annotations)]
    return pa.RecordBatch.from_pylist(rows, schema=ANNOTATION_SCHEMA)


def _sentences(corpus: Path, column: str, *, start: int, stop: int) -> Iterator[NumberedSentence]:
    for batch in read_batches(corpus, columns=["id", column], start=start, stop=stop):
        yield from map(NumberedSentence, batch.column("id").to_pylist(), batch.column(column).to_pylist())


def gather_shards(shards: Sequence[Path], *, corpus: Path, output: Path, report: Path) -> None:
    """Concatenate the shards of `corpus` in order into `output`, and write a JSON `report` of what is in it.

    Every row must belong to the pair in the corpus' own row; else, or where not one sentence could be annotated, a
    `UserError` says where. The report holds: sentences; nulls by reason, their share, and the share of those whose
    analysis was invalid; how many sentences have each kind of annotation; trees, those with several roots and the
    non-projective ones, mean and largest depth (edges from the artificial root to the deepest word); how many different
    labels and tags there are.
    """
    count = row_count(corpus)
    summary = _Summary()
    with row_writer(output, ANNOTATION_SCHEMA) as writer:
        for number, shard in enumerate(shards):
            start, stop = shard_rows(count, number, len(shards))
            _append(writer, shard, corpus, start=start, stop=stop, summary=summary)
        summary.check(output)
    write_json(report, summary.report())


def _append(writer: RowWriter, shard: Path, corpus: Path, *, start: int, stop: int, summary: "_Summary") -> None:
    if (rows := row_count(shard)) != stop - start:
        raise UserError(
            f"{shard} has {rows} rows for the rows {start} to {stop - 1} of {corpus}, which are {stop - start}: "
            "delete it and annotate again."
        )
    for _, batch in paired_batches(corpus, shard, columns=([], list(COLUMNS)), start=start, stop=stop):
        writer.write_batch(batch)
        summary.add(batch)


class _Summary:
    def __init__(self) -> None:
        self.sentences = self.trees = self.several_roots = self.nonprojective = self.deepest = self.depths = 0
        self.reasons: Counter[str] = Counter()
        self.given: Counter[str] = Counter()
        self.labels: dict[str, set[str]] = {column: set() for column in _LABELS}

    def add(self, batch: pa.RecordBatch) -> None:
        self.sentences += batch.num_rows
        reasons = batch.column("reason").drop_null().to_pylist()
        self.reasons.update(reason.split(":")[0] for reason in reasons)
        for kind in GIVEN:
            self.given[kind] += int(has_kind(batch, kind).sum())
        for column, labels in self.labels.items():
            labels.update(batch.column(column).flatten().unique().drop_null().to_pylist())
        heads = batch.column("head").drop_null()
        shape = forest_shape(heads.flatten().to_numpy(), heads.value_lengths().to_numpy())
        self.trees += len(heads)
        self.several_roots += int((shape.roots > 1).sum())
        self.nonprojective += int((~shape.projective).sum())
        self.depths += int(shape.depth.sum())
        self.deepest = max(self.deepest, int(np.max(shape.depth, initial=0)))

    def check(self, output: Path) -> None:
        if self.sentences and sum(self.reasons.values()) == self.sentences:
            reasons = "; ".join(f"{reason} ({count})" for reason, count in self.reasons.most_common(3))
            raise UserError(f"{output}: not one of {self.sentences} sentences could be annotated: {reasons}.")

    def report(self) -> dict[str, Any]:
        return {
            "sentences": self.sentences,
            "nulls": dict(self.reasons.most_common()),
            "null_share": self._share(self.reasons.total()),
            "invalid_share": self._share(self.reasons[INVALID]),
            "given": {kind: self.given[kind] for kind in GIVEN},
            "trees": self.trees,
            "several_roots": self.several_roots,
            "nonprojective": self.nonprojective,
            "depth": {"mean": round(self.depths / self.trees, 3) if self.trees else None, "max": self.deepest},
            "labels": {column: len(labels) for column, labels in self.labels.items()},
        }

    def _share(self, sentences: int) -> float | None:
        return round(sentences / self.sentences, 6) if self.sentences else None
