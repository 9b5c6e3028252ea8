"""Which training pairs are used, once they are annotated: the same for every system of the data set.

Files of the corpus and of the annotation stay whole; what stands to the right reads the rows that are kept.
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
from nmtcore.parquet import ROWS_PER_GROUP, paired_batches, read_batches, row_count, row_writer

SELECTION_SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("kept", pa.bool_(), nullable=False)])
"""`annotation/selection/train.parquet`: a row a row of `corpus/train.parquet`, in its order."""

GIVEN = {"dependencies": ("head",), "tags": ("upos", "xpos"), "ccg": ("ccg",), "constituency": ("constituency",)}
"""The columns of each kind of annotation; all are null where a sentence has none of it."""


def select_pairs(
    settings: SelectionSettings,
    *,
    corpus: Path,
    annotations: Mapping[str, Mapping[str, Path]],
    output: Path,
    report: Path,
) -> dict[str, Any]:
    """Write `SELECTION_SCHEMA`, and a JSON `report` of what is left: pairs, kept, dropped by reason, copies.

    `annotations` gives the file of each side and kind that `settings.parsed` asks for. A pair is counted under the
    first of them that it lacks. Memory: two bytes a pair.
    """
    rows = row_count(corpus)
    dropped: dict[str, int] = {}
    kept = np.ones(rows, dtype=bool)
    for side, kinds in settings.parsed.items():
        for kind in kinds:
            found = _annotated(corpus, annotations[side][kind], rows, kind)
            dropped[f"no {kind} on the {side} side"] = int((kept & ~found).sum())
            kept &= found
    facts: dict[str, Any] = {"pairs": rows, "dropped": dropped}
    if settings.copies is not None:
        facts["copies"] = _sample_copies(settings.copies, corpus, kept)
        dropped["copies not drawn"] = facts["copies"]["usable"] - facts["copies"]["kept"]
    if not kept.any():
        raise UserError(f"{corpus}: no pair is left of {rows}: {', '.join(f'{k} ({n})' for k, n in dropped.items())}.")
    _write(corpus, kept, output)
    facts["kept"] = int(kept.sum())
    write_json(report, facts)
    return facts


def selected_batches(path: Path, selection: Path | None, *, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of `path` (a row a row of the corpus) that `selection` keeps, as batches; None keeps all."""
    if selection is None:
        yield from read_batches(path, columns=columns)
        return
    wanted = [column for column in columns if column != "id"]
    for batch, mask in paired_batches(path, selection, columns=(wanted, ["kept"])):
        kept = batch.filter(mask.column("kept"))
        if kept.num_rows:
            yield kept.select(columns)


def has_kind(batch: pa.RecordBatch, kind: str) -> np.ndarray:
    """Say for every row of a batch of annotation whether it has a kind of it: (rows,) bool."""
    return np.any([batch.column(name).is_valid().to_numpy(zero_copy_only=False) for name in GIVEN[kind]], axis=0)


def _annotated(corpus: Path, annotation: Path, rows: int, kind: str) -> np.ndarray:
    """Say for every row of the corpus whether it has the annotation: (rows,) bool."""
    found = np.zeros(rows, dtype=bool)
    row = 0
    for _, batch in paired_batches(corpus, annotation, columns=([], list(GIVEN[kind]))):
        found[row : row + batch.num_rows] = has_kind(batch, kind)
        row += batch.num_rows
    return found


def _sample_copies(settings: CopiesSettings, corpus: Path, kept: np.ndarray) -> dict[str, int]:
    """Keep `per_pair` copied sentences for each pair that is kept, and no other: changes `kept`."""
    copied = np.zeros(len(kept), dtype=bool)
    row = 0
    for batch in read_batches(corpus, columns=["origin"]):
        origins = pc.starts_with(batch.column("origin"), f"{settings.corpus}:")
        copied[row : row + batch.num_rows] = origins.to_numpy(zero_copy_only=False)
        row += batch.num_rows
    usable = np.flatnonzero(kept & copied)
    wanted = round(settings.per_pair * int((kept & ~copied).sum()))
    if wanted > len(usable):
        raise UserError(
            f"{corpus}: {wanted} copied sentences are wanted, but '{settings.corpus}' has only {len(usable)} that can "
            "be used: raise the `sample` of its part of the training split, or lower `selection.copies.per_pair`."
        )
    drawn = np.random.default_rng(settings.seed).choice(usable, size=wanted, replace=False, shuffle=False)
    kept &= ~copied
    kept[drawn] = True
    return {"sentences": int(copied.sum()), "usable": len(usable), "kept": wanted}


def _write(corpus: Path, kept: np.ndarray, output: Path) -> None:
    row = 0
    with row_writer(output, SELECTION_SCHEMA) as writer:
        for batch in read_batches(corpus, columns=["id"], size=ROWS_PER_GROUP):
            mask = pa.array(kept[row : row + batch.num_rows])
            writer.write_batch(pa.RecordBatch.from_arrays([batch.column("id"), mask], schema=SELECTION_SCHEMA))
            row += batch.num_rows
