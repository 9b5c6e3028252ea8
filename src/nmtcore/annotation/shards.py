"""Annotation of a split in shards (contiguous ranges of rows), and concatenation of the shards."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from nmtcore.annotation.base import INVALID, AnnotationTask, NumberedSentence, guarded, open_annotator
from nmtcore.annotation.labels import STORED_LABELS
from nmtcore.annotation.selection import COLUMNS_BY_ANNOTATION, has_annotation
from nmtcore.config.datasets import AnnotatorSettings
from nmtcore.corpus.pairs import ANNOTATION_FIELDS
from nmtcore.errors import UserError
from nmtcore.files import write_json
from nmtcore.parquet import paired_batches, read_rows, row_count, row_writer
from nmtcore.syntax.annotation import COLUMNS, Annotation
from nmtcore.syntax.trees import tree_shape

ANNOTATION_SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), *ANNOTATION_FIELDS])
"""`annotation/{annotator}/{split}.{side}.parquet`: one row per pair of `corpus/{split}.parquet`, in the same order."""


def shard_rows(count: int, shard: int, shards: int) -> tuple[int, int]:
    """Return (start, stop) of the rows of shard `shard` (from 0) of `shards`; the shards' sizes differ by at most 1."""
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
    """Annotate one side of one shard of `corpus` and write `output`: one row per pair, in order."""
    start, stop = shard_rows(row_count(corpus), shard, shards)
    task = AnnotationTask(side=side, language=language, raw=raw, model_folders=tuple(model_folders))
    with open_annotator(settings, task) as annotator, row_writer(output, ANNOTATION_SCHEMA) as writer:
        rows = read_rows(corpus, columns=["id", f"{side}_words"], start=start, stop=stop)
        sentences = (NumberedSentence(row["id"], row[f"{side}_words"]) for row in rows)
        for sentence, annotation in guarded(annotator, sentences, max_words=settings.max_words):
            writer.write(annotation_row(sentence.id, annotation))


def annotation_row(id: int, annotation: Annotation) -> dict[str, Any]:
    """Convert an annotation to a row of `ANNOTATION_SCHEMA`."""
    return {"id": id, **{column: getattr(annotation, column) for column in COLUMNS}}


def annotation_batch(annotations: Iterable[Annotation]) -> pa.RecordBatch:
    """Convert the annotations of new text to a batch of `ANNOTATION_SCHEMA`, numbered from 0."""
    rows = [annotation_row(number, annotation) for number, annotation in enumerate(annotations)]
    return pa.RecordBatch.from_pylist(rows, schema=ANNOTATION_SCHEMA)


def gather_shards(shards: Sequence[Path], *, corpus: Path, output: Path, report: Path) -> None:
    """Concatenate the shards of `corpus` in order into `output`, and write statistics as a JSON `report`.

    The report holds: sentences; nulls by reason, the share of nulls and of invalid analyses; sentences per annotation
    name; trees, trees with several roots, non-projective trees; mean and largest depth (edges from the artificial root
    to the deepest word); the number of different labels and tags. Raises UserError, naming the row, if a row's pair
    differs from the pair in the same row of the corpus, or if no sentence could be annotated.
    """
    count = row_count(corpus)
    summary = _Summary()
    with row_writer(output, ANNOTATION_SCHEMA) as writer:
        for number, shard in enumerate(shards):
            start, stop = shard_rows(count, number, len(shards))
            if (rows := row_count(shard)) != stop - start:
                raise UserError(
                    f"{shard} has {rows} rows, but it annotates rows {start} to {stop - 1} of {corpus}, which are "
                    f"{stop - start}: delete the shard and annotate again."
                )
            for _, batch in paired_batches(corpus, shard, columns=([], list(COLUMNS)), start=start, stop=stop):
                writer.write_batch(batch)
                summary.add(batch)
        facts = summary.report(output)
    write_json(report, facts)


class _Summary:
    """Statistics of the gathered annotations."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.given: Counter[str] = Counter(dict.fromkeys(COLUMNS_BY_ANNOTATION, 0))
        self.labels: dict[str, set[str]] = {column: set() for column in STORED_LABELS}
        self.first_reason, self.deepest = "", 0

    def add(self, batch: pa.RecordBatch) -> None:
        reasons = batch.column("reason").drop_null().to_pylist()
        self.first_reason = self.first_reason or next(iter(reasons), "")
        self.reasons.update(reason.split(":")[0] for reason in reasons)
        self.given.update({name: int(has_annotation(batch, name).sum()) for name in COLUMNS_BY_ANNOTATION})
        for column, labels in self.labels.items():
            labels.update(batch.column(column).flatten().unique().drop_null().to_pylist())
        self.counts["sentences"] += batch.num_rows
        for shape in map(tree_shape, batch.column("head").drop_null().to_pylist()):
            several, crossing = shape.roots > 1, not shape.is_projective
            self.counts.update(trees=1, several_roots=several, nonprojective=crossing, depth=shape.depth)
            self.deepest = max(self.deepest, shape.depth)

    def report(self, output: Path) -> dict[str, Any]:
        """Return the report. Raises UserError if no sentence has an annotation."""
        sentences, trees = self.counts["sentences"], self.counts["trees"]
        if sentences and self.reasons.total() == sentences:
            reasons = "; ".join(f"{reason} ({count})" for reason, count in self.reasons.most_common(3))
            raise UserError(
                f"{output}: none of {sentences} sentences could be annotated: {reasons}. The first: "
                f"{self.first_reason}. Check the annotator."
            )
        return {
            "sentences": sentences,
            "nulls": dict(self.reasons.most_common()),
            "null_share": round(self.reasons.total() / sentences, 6) if sentences else None,
            "invalid_share": round(self.reasons[INVALID] / sentences, 6) if sentences else None,
            "given": dict(self.given),
            "trees": trees,
            "several_roots": self.counts["several_roots"],
            "nonprojective": self.counts["nonprojective"],
            "depth": {"mean": round(self.counts["depth"] / trees, 3) if trees else None, "max": self.deepest},
            "labels": {column: len(labels) for column, labels in self.labels.items()},
        }
