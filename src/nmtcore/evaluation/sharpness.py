"""Sharpness of attention in the encoder: histograms of the weights, and their maxima (pham2018, 6.2.3).

A weight is that of a source token for another, `</s>` included; the weights of all sentences are counted together.

Shapes: K keys, Q queries.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from nmtcore.parquet import read_batches

BINS = 10
"""Number of bins of equal width between 0 and 1. A weight on an edge is in the bin above it, 1 in the last bin."""

ROWS_IN_MEMORY = 256
"""Attention maps that are read at a time."""


def count_sharpness(attention: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Count the weights of the encoder in files of attention (`inference.attention`), one file per seed.

    Returns for each layer (its number as text), all heads together, and for each head ("LAYER.HEAD") the `shares` of
    the weights in each bin, in percent, and `mean_maximum`, the mean largest weight of a row.
    """
    heads: dict[tuple[int, int], np.ndarray] = {}
    for path in attention:
        for batch in read_batches(path, columns=["attention", "layer", "head", "weights"], size=ROWS_IN_MEMORY):
            for row in batch.filter(pc.equal(batch.column("attention"), "encoder")).to_pylist():
                place = (row["layer"], row["head"])
                heads[place] = heads.get(place, 0) + _counts_of_map(row["weights"])
    layers = sorted({layer for layer, _ in heads})
    return {
        **{f"{n}": _summary(sum(counts for (layer, _), counts in heads.items() if layer == n)) for n in layers},
        **{f"{layer}.{head}": _summary(counts) for (layer, head), counts in sorted(heads.items())},
    }


def _summary(counts: np.ndarray) -> dict[str, Any]:
    """Return the percentages and the mean of counts (`_counts_of_map`)."""
    *bins, queries, maxima = counts.tolist()
    return {"shares": [100 * number / sum(bins) for number in bins], "mean_maximum": maxima / queries}


def _counts_of_map(weights: Sequence[Sequence[float]]) -> np.ndarray:
    """Count the weights of a map by bin, and its queries; the last number is the sum of the queries' maxima."""
    weights_QK = np.array(weights, dtype=np.float32)
    edges = np.arange(1, BINS, dtype=np.float32) / np.float32(BINS)
    bins = np.bincount(np.searchsorted(edges, weights_QK.ravel(), side="right"), minlength=BINS)
    return np.array([*bins, len(weights_QK), weights_QK.max(axis=1).sum(dtype=np.float64)])
