"""Sharpness of attention in the encoder: histograms of the weights, their maxima and entropies (pham2018, 6.2.3).

A weight is that of a source token for another, `</s>` included; the weights of all sentences are counted together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nmtcore.errors import UserError
from nmtcore.parquet import read_batches

BINS = 10
"""Number of bins of equal width between 0 and 1. A weight on an edge is in the bin above it, 1 in the last bin."""

ROWS_IN_MEMORY = 64
"""Attention maps that are read at a time."""


@dataclass
class _Counts:
    """Counts and sums over the weights of a head."""

    bins: np.ndarray = field(default_factory=lambda: np.zeros(BINS, dtype=np.int64))
    queries: int = 0
    maxima: float = 0.0
    entropies: float = 0.0

    def add_map(self, weights_QK: np.ndarray) -> None:
        """Count the weights of a sentence; each row is divided by its sum for the entropy, since it may be rounded."""
        edges = np.arange(BINS + 1, dtype=np.float32) / np.float32(BINS)
        self.bins += np.histogram(np.minimum(weights_QK, 1), edges)[0]
        self.queries += len(weights_QK)
        self.maxima += float(weights_QK.max(axis=1).sum(dtype=np.float64))
        shares_QK = weights_QK.astype(np.float64) / weights_QK.sum(axis=1, keepdims=True, dtype=np.float64)
        logarithms_QK = np.log2(shares_QK, where=shares_QK > 0, out=np.zeros_like(shares_QK))
        self.entropies -= float((shares_QK * logarithms_QK).sum())

    def add(self, other: "_Counts") -> None:
        """Add the counts of another head."""
        self.bins = self.bins + other.bins
        self.queries += other.queries
        self.maxima += other.maxima
        self.entropies += other.entropies

    def summary(self) -> dict[str, Any]:
        """Return the counts as plain values, and the means over the queries."""
        return {
            "counts": self.bins.tolist(),
            "queries": self.queries,
            "mean_maximum": self.maxima / self.queries,
            "mean_entropy": self.entropies / self.queries,
        }


def count_sharpness(attention: Sequence[Path]) -> dict[str, Any]:
    """Count the weights of the encoder's heads in files of attention (`inference.attention`), one file per seed.

    Returns the number of `sentences`; the `edges` of the bins; `layers`, for each layer (by its number as text) its
    heads together; and `heads`, the same by "LAYER.HEAD". Each has `counts` of weights by bin; `queries`, the number of
    rows of weights; `mean_maximum`, the mean largest weight of a row; and `mean_entropy`, its mean entropy in bits.

    Raises `UserError` if a file has no encoder heads, or other sentences or heads than the first.
    """
    heads: dict[tuple[int, int], _Counts] = {}
    first: tuple[set[int], set[tuple[int, int]]] | None = None
    for path in attention:
        ids, names = set(), set()
        for id_, layer, head, weights_QK in _encoder_maps(path):
            heads.setdefault((layer, head), _Counts()).add_map(weights_QK)
            ids.add(id_)
            names.add((layer, head))
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
    layers: dict[int, _Counts] = {}
    for (layer, _), counts in sorted(heads.items()):
        layers.setdefault(layer, _Counts()).add(counts)
    return {
        "sentences": len(first[0]),
        "edges": [k / BINS for k in range(BINS + 1)],
        "layers": {str(layer): counts.summary() for layer, counts in layers.items()},
        "heads": {f"{layer}.{head}": counts.summary() for (layer, head), counts in sorted(heads.items())},
    }


def _encoder_maps(path: Path) -> Iterator[tuple[int, int, int, np.ndarray]]:
    """Yield the id, layer, head and weights (Q, K) of the maps of encoder heads, one at a time."""
    columns = ["id", "attention", "layer", "head", "weights"]
    for batch in read_batches(path, columns=columns, size=ROWS_IN_MEMORY):
        names = [batch.column(name).to_pylist() for name in columns[:-1]]
        for id_, attention, layer, head, weights in zip(*names, batch.column("weights"), strict=True):
            if attention == "encoder":
                rows = weights.values
                yield id_, layer, head, rows.flatten().to_numpy().reshape(len(rows), -1)
