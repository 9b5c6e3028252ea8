"""Sharpness of attention in the encoder: histograms of the weights, their maxima and entropies (pham2018, 6.2.3).

A weight is that of a source token for another, `</s>` included; the weights of all sentences are counted together.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.errors import UserError
from nmtcore.parquet import read_batches

BINS = 10
"""Number of bins of equal width between 0 and 1. A weight on an edge is in the bin above it, 1 in the last bin."""

ROWS_IN_MEMORY = 256
"""Attention maps that are read at a time."""


def count_sharpness(attention: Sequence[Path]) -> dict[str, Any]:
    """Count the weights of the encoder's heads in files of attention (`inference.attention`), one file per seed.

    Returns the number of `sentences`; the `edges` of the bins; `layers`, for each layer (by its number as text) its
    heads together; and `heads`, the same by "LAYER.HEAD". Each has `counts` of weights by bin; `queries`, the number of
    rows of weights; `mean_maximum`, the mean largest weight of a row; and `mean_entropy`, its mean entropy in bits.

    Raises `UserError` if a file has no encoder heads, or other sentences or heads than the first.
    """
    heads: dict[tuple[int, int], np.ndarray] = {}
    first: tuple[set[int], set[tuple[int, int]]] | None = None
    for path in attention:
        ids, names = set(), set()
        for batch in _encoder_batches(path):
            ids.update(batch.column("id").to_pylist())
            pairs = zip(batch.column("layer").to_pylist(), batch.column("head").to_pylist(), strict=True)
            for name, counts in zip(pairs, _counts_of_maps(batch.column("weights")), strict=True):
                heads[name] = heads.get(name, 0) + counts
                names.add(name)
        if not names:
            raise UserError(f"{path} has no attention of encoder heads: leave this system out; only transformers do.")
        first = first or (ids, names)
        if (ids, names) != first:
            raise UserError(
                f"{attention[0]} and {path} have other sentences or heads: delete the older one and run the workflow "
                "again."
            )
    if first is None:
        raise ValueError("there is no file to read")
    layers: dict[int, np.ndarray] = {}
    for (layer, _), counts in sorted(heads.items()):
        layers[layer] = layers.get(layer, 0) + counts
    return {
        "sentences": len(first[0]),
        "edges": [k / BINS for k in range(BINS + 1)],
        "layers": {str(layer): _summary(counts) for layer, counts in layers.items()},
        "heads": {f"{layer}.{head}": _summary(counts) for (layer, head), counts in sorted(heads.items())},
    }


def _summary(counts: np.ndarray) -> dict[str, Any]:
    """Return counts (`_counts_of_maps`) as plain values, and the means over the queries."""
    *bins, queries, maxima, entropies = counts.tolist()
    return {
        "counts": [int(count) for count in bins],
        "queries": int(queries),
        "mean_maximum": maxima / queries,
        "mean_entropy": entropies / queries,
    }


def _encoder_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield the maps of encoder heads."""
    columns = ["id", "attention", "layer", "head", "weights"]
    for batch in read_batches(path, columns=columns, size=ROWS_IN_MEMORY):
        own = batch.filter(pc.equal(batch.column("attention"), "encoder"))
        if own.num_rows:
            yield own


def _counts_of_maps(weights: pa.ListArray) -> np.ndarray:
    """Count the weights of each of some maps, which are lists of rows of weights.

    Returns a row for each map: the weights by bin, the queries, and the sums of maxima and entropies over the queries.
    For the entropy each row is divided by its sum, which differs a little from 1 if the weights are rounded.
    """
    rows = weights.flatten()
    queries, keys = (pc.list_value_length(lists).to_numpy() for lists in (weights, rows))
    values = rows.flatten().to_numpy()
    row_starts, map_starts = np.cumsum(keys) - keys, np.cumsum(queries) - queries
    edges = np.arange(1, BINS, dtype=np.float32) / np.float32(BINS)
    map_of_value = np.repeat(np.repeat(np.arange(len(weights)), queries), keys)
    cells = map_of_value * BINS + np.searchsorted(edges, values, side="right")
    bins = np.bincount(cells, minlength=len(weights) * BINS).reshape(-1, BINS)
    maxima = np.add.reduceat(np.maximum.reduceat(values, row_starts).astype(np.float64), map_starts)
    exact = values.astype(np.float64)
    logarithms = np.log2(exact, where=exact > 0, out=np.zeros_like(exact))
    sums, products = (np.add.reduceat(numbers, row_starts) for numbers in (exact, exact * logarithms))
    entropies = np.add.reduceat(np.log2(sums) - products / sums, map_starts)
    return np.column_stack([bins, queries, maxima, entropies])
