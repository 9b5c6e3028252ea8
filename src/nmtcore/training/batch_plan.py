"""Batch plans: the sentence pairs of each update, as a function of lengths, settings, seed and epoch.

All devices share a batch: `micro_batches` picks a device's rows and cuts them into micro-batches that fit its memory.

Shapes: B sentences.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nmtcore.config.training import BatchSettings


class Lengths(NamedTuple):
    """The *padded* lengths of sentence pairs (integers): subwords, `</s>` and prefixes that components put before them.

    A batch's size in tokens is its rows times the largest of `longer`.
    """

    longer: np.ndarray
    """Of the longer side of each pair."""
    shorter: np.ndarray
    """Of the shorter side."""


@dataclass(frozen=True, kw_only=True)
class EpochPlan:
    """The batches of one epoch in training order; `plan[step]` gives a batch's rows, shortest pairs first."""

    rows: np.ndarray
    """The rows of the epoch, each once, in the type of `kept`."""
    starts: np.ndarray
    """Where each batch starts in `rows`."""
    ends: np.ndarray
    """Where each batch ends in `rows`."""

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, step: int) -> np.ndarray:
        return self.rows[self.starts[step] : self.ends[step]]


def plan_epoch(lengths: Lengths, kept: np.ndarray, settings: BatchSettings, *, seed: int, epoch: int) -> EpochPlan:
    """Plan one epoch (counted from 0) over the rows `kept`: each of them is in exactly one batch.

    Shuffle the rows, cut them into pools of about `settings.pool` batches, sort each pool by length (the longer side,
    then the shorter), cut it into batches, and shuffle the batches. A pair larger than a batch has a batch to itself.
    """
    generator = np.random.default_rng((seed, epoch))
    shuffled = generator.permutation(kept)
    per_pool = _rows_per_pool(lengths, kept, settings)
    ends = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(shuffled), per_pool):
        pool = shuffled[start : start + per_pool]
        pool[:] = _by_length(pool, lengths)
        ends.append(start + _batch_ends(lengths.longer[pool], unit=settings.unit, size=settings.size))
    stops = np.concatenate(ends)
    starts = np.concatenate([[0], stops[:-1]]).astype(np.int64)
    order = generator.permutation(len(stops))
    return EpochPlan(rows=shuffled, starts=starts[order], ends=stops[order])


def rows_within_length(source: np.ndarray, target: np.ndarray, *, max_length: int | None) -> np.ndarray:
    """Return the rows whose sides both have at most `max_length` subwords; None means no limit.

    `source` and `target` count subwords without `</s>` and without the tags of words.
    """
    limit = np.inf if max_length is None else max_length
    return np.flatnonzero((source <= limit) & (target <= limit)).astype(np.uint32)


def micro_batches(
    rows_B: np.ndarray, lengths: Lengths, settings: BatchSettings, *, rank: int, world_size: int
) -> list[np.ndarray]:
    """Pick the rows of a batch that go to device `rank`, and cut them into micro-batches.

    Row i of the batch goes to device i modulo `world_size`, so that all devices get sentences of similar lengths.
    `lengths` are those of all pairs. If a batch has fewer rows than there are devices, some get an empty list.
    """
    own_rows = rows_B[rank::world_size]
    return _cut(own_rows, lengths, settings) if len(own_rows) else []


def validation_batches(lengths: Lengths, settings: BatchSettings) -> list[np.ndarray]:
    """Cut all rows, shortest first, into batches that fit one device."""
    return _cut(_by_length(np.arange(len(lengths.longer)), lengths), lengths, settings)


def _by_length(rows: np.ndarray, lengths: Lengths) -> np.ndarray:
    return rows[np.lexsort((lengths.shorter[rows], lengths.longer[rows]))]


def _cut(rows: np.ndarray, lengths: Lengths, settings: BatchSettings) -> list[np.ndarray]:
    """Cut rows of rising length into batches that fit one device."""
    ends = _batch_ends(lengths.longer[rows], unit=settings.unit, size=settings.device_size or settings.size)
    return np.split(rows, ends[:-1])


def _rows_per_pool(lengths: Lengths, kept: np.ndarray, settings: BatchSettings) -> int:
    if settings.unit == "sentences":
        return max(1, settings.pool * settings.size)
    tokens = int(lengths.longer[kept].sum(dtype=np.int64))
    return max(1, round(settings.pool * (settings.size * len(kept) / max(1, tokens))))


def _batch_ends(longer: np.ndarray, *, unit: str, size: int) -> np.ndarray:
    """Cut a list of rising lengths into batches of at most `size`, each as long as possible; return their ends."""
    n = len(longer)
    if unit == "sentences":
        return np.minimum(np.arange(size, n + size, size), n)
    ends = []
    start = 0
    counts = np.arange(1, n + 1)
    while start < n:
        # Since lengths rise, rows times the last row's length rises too; more rows than this cannot fit.
        window = longer[start : start + max(1, size // max(1, int(longer[start])))]
        fitting = int((window * counts[: len(window)]).searchsorted(size, side="right"))
        start += max(1, fitting)
        ends.append(start)
    return np.array(ends, dtype=np.int64)
