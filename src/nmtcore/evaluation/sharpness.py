"""Sharpness of attention in the encoder: histograms of the weights, their maxima and entropies (pham2018, 6.2.3).

A weight is that of a source token for another, `</s>` included; the weights of all sentences are counted together.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.parquet import read_batches

BINS = 10
"""Number of bins of equal width between 0 and 1. A weight on an edge is in the bin above it, 1 in the last bin."""

ROWS_IN_MEMORY = 256
"""Attention maps that are read at a time."""


def count_sharpness(attention: Sequence[Path]) -> dict[str, Any]:
    """Count the weights of the encoder's heads in files of attention (`inference.attention`), one file per seed.

    Returns the number of `sentences`; `layers`, for each layer (by its number as text) its heads together; and `heads`,
    the same by "LAYER.HEAD". Each has `counts` of weights by bin; `queries`, the number of rows of weights;
    `mean_maximum`, the mean largest weight of a row; and `mean_entropy`, its mean entropy in bits.
    """
    sentences: set[int] = set()
    heads: dict[tuple[int, int], np.ndarray] = {}
    for path in attention:
        columns = ["id", "attention", "layer", "head", "weights"]
        for batch in read_batches(path, columns=columns, size=ROWS_IN_MEMORY):
            maps = batch.filter(pc.equal(batch.column("attention"), "encoder"))
            if maps.num_rows:
                sentences.update(maps.column("id").to_pylist())
                numbers = (maps.column(name).to_pylist() for name in ("layer", "head"))
                for layer, head, counts in zip(*numbers, _counts_of_maps(maps.column("weights")), strict=True):
                    heads[layer, head] = heads.get((layer, head), 0) + counts
    layers = sorted({layer for layer, _ in heads})
    return {
        "sentences": len(sentences),
        "layers": {f"{n}": _summary(sum(counts for (layer, _), counts in heads.items() if layer == n)) for n in layers},
        "heads": {f"{layer}.{head}": _summary(counts) for (layer, head), counts in sorted(heads.items())},
    }


def _summary(counts: np.ndarray) -> dict[str, Any]:
    """Return counts (`_counts_of_maps`) as plain values, and the means over the queries."""
    *bins, queries, maxima, entropies = counts.tolist()
    means = {"mean_maximum": maxima / queries, "mean_entropy": entropies / queries}
    return {"counts": list(map(int, bins)), "queries": int(queries), **means}


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
