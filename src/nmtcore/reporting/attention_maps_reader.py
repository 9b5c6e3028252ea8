"""Reading the attention maps of one sentence from a run's file of attention."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.compute as pc

from nmtcore.errors import UserError
from nmtcore.layout import Layout
from nmtcore.parquet import read_batches


class SentenceMap(NamedTuple):
    """One attention map of a sentence, as in `ATTENTION_SCHEMA` (`inference.attention`)."""

    attention: str
    layer: int | None
    head: int | None
    queries: list[str]
    keys: list[str]
    weights: list[list[float]]
    """One row per query, one column per key."""


def attention_ids(path: Path) -> set[int]:
    """Read the ids of the sentences of a file of attention."""
    return {id_ for batch in read_batches(path, columns=["id"]) for id_ in batch.column("id").to_pylist()}


def common_ids(attention: Sequence[Path]) -> set[int]:
    """Read the ids of the sentences that all of some files of attention have."""
    return set.intersection(*map(attention_ids, attention))


def read_sentence_maps(path: Path, id_: int) -> list[SentenceMap]:
    """Read the attention maps of a sentence, in the order of the file; weights have four decimals.

    Raises `UserError` if the file does not have the sentence.
    """
    maps = []
    for batch in read_batches(path, columns=["id", *SentenceMap._fields], size=256):
        for row in batch.filter(pc.equal(batch.column("id"), id_)).to_pylist():
            weights = [[round(weight, 4) for weight in weights_K] for weights_K in row["weights"]]
            maps.append(SentenceMap(*(row[name] for name in SentenceMap._fields[:-1]), weights))
    if not maps:
        raise UserError(f"{path} has no sentence with id {id_}: delete it and run the workflow again.")
    return maps


def run_names(path: Path, file_type: str, layout: Layout) -> dict[str, Any]:
    """Return the scale, data set, system and seed of a run's file, and the split if its path has one."""
    names = layout.names(path, file_type)
    order = [name for name in ("scale", "dataset", "system", "seed", "split") if name in names]
    return {name: int(names[name]) if name == "seed" else names[name] for name in order}
