"""Selection of the training pairs after annotation, the same for every system of the data set.

The files of corpus and annotation stay complete; later stages read only the selected rows.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.config.datasets import CopiesSettings, SelectionSettings
from nmtcore.errors import UserError
from nmtcore.files import write_json
from nmtcore.parquet import paired_batches, read_batches, row_count, row_writer

SELECTION_SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("kept", pa.bool_(), nullable=False)])
"""`annotation/selection/train.parquet`: one row per row of `corpus/train.parquet`, in the same order."""

COLUMNS_BY_ANNOTATION = {
    "dependencies": ("head",),
    "tags": ("upos", "xpos"),
    "ccg": ("ccg",),
    "constituency": ("constituency",),
}
"""Annotation name → its columns; a sentence without the annotation has null in all of them."""


def select_pairs(
    settings: SelectionSettings,
    *,
    corpus: Path,
    annotations: Mapping[str, Mapping[str, Path]],
    output: Path,
    report: Path,
) -> dict[str, Any]:
    """Write `SELECTION_SCHEMA` and a JSON `report`: pairs, kept pairs, dropped pairs by reason, copies.

    `annotations` maps each side and annotation name of `settings.parsed` to its file. A dropped pair is counted under
    the first annotation that it lacks. Needs some ten bytes of memory per pair. Raises UserError if no pair is left.
    """
    rows = row_count(corpus)
    kept = np.ones(rows, dtype=bool)
    dropped: dict[str, int] = {}
    for side, annotation_names in settings.parsed.items():
        for name in annotation_names:
            columns = list(COLUMNS_BY_ANNOTATION[name])
            pairs = paired_batches(corpus, annotations[side][name], columns=([], columns))
            annotated = np.concatenate([kept[:0], *(has_annotation(batch, name) for _, batch in pairs)])
            dropped[f"no {name} on the {side} side"] = int((kept & ~annotated).sum())
            kept &= annotated
    facts: dict[str, Any] = {"pairs": rows, "dropped": dropped}
    if settings.copies is not None:
        facts["copies"] = _sample_copies(settings.copies, corpus, kept)
        dropped["copies not drawn"] = facts["copies"]["usable"] - facts["copies"]["kept"]
    if not kept.any():
        reasons = ", ".join(f"{reason} ({count})" for reason, count in dropped.items())
        raise UserError(f"{corpus}: no pair is left of {rows}: {reasons}. Check the annotations and `selection`.")
    with row_writer(output, SELECTION_SCHEMA) as writer:
        ids = [batch.column("id") for batch in read_batches(corpus, columns=["id"])]
        writer.write_batch(pa.table([pa.chunked_array(ids), pa.array(kept)], schema=SELECTION_SCHEMA))
    facts["kept"] = int(kept.sum())
    write_json(report, facts)
    return facts


def selected_batches(path: Path, selection: Path | None, *, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield batches of the rows of `path` (one row per row of the corpus) that `selection` keeps; None keeps all."""
    if selection is None:
        yield from read_batches(path, columns=columns)
        return
    without_id = [column for column in columns if column != "id"]
    for batch, mask in paired_batches(path, selection, columns=(without_id, ["kept"])):
        kept = batch.filter(mask.column("kept"))
        if kept.num_rows:
            yield kept.select(columns)


def has_annotation(batch: pa.RecordBatch, annotation_name: str) -> np.ndarray:
    """Return for every row of a batch of annotations whether it has the annotation of this name: (rows,) bool."""
    columns = COLUMNS_BY_ANNOTATION[annotation_name]
    return np.any([batch.column(column).is_valid().to_numpy(zero_copy_only=False) for column in columns], axis=0)


def _sample_copies(settings: CopiesSettings, corpus: Path, kept: np.ndarray) -> dict[str, int]:
    """Change `kept` in place so that it keeps exactly `per_pair` copied sentences per kept sentence pair."""
    origins = (batch.column("origin") for batch in read_batches(corpus, columns=["origin"]))
    are_copies = (pc.starts_with(origin, f"{settings.corpus}:") for origin in origins)
    copied = np.concatenate([kept[:0], *(batch.to_numpy(zero_copy_only=False) for batch in are_copies)])
    usable = np.flatnonzero(kept & copied)
    needed = round(settings.per_pair * int((kept & ~copied).sum()))
    if needed > len(usable):
        raise UserError(
            f"{corpus}: {needed} copied sentences are needed, but '{settings.corpus}' has only {len(usable)} usable "
            "sentences: raise the `sample` of its part of the training split, or lower `selection.copies.per_pair`."
        )
    drawn = np.random.default_rng(settings.seed).choice(usable, size=needed, replace=False, shuffle=False)
    kept &= ~copied
    kept[drawn] = True
    return {"sentences": int(copied.sum()), "usable": len(usable), "kept": needed}
