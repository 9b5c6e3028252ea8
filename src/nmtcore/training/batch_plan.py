"""Batch plans: the sentence pairs of each update, as a function of lengths, settings, seed and epoch.

Lengths are *padded* lengths: a sentence's subwords, `</s>` and the prefixes that components put before them. All
devices share a batch: `micro_batches` picks a device's rows and cuts them into micro-batches that fit its memory.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nmtcore.config.training import BatchSettings
from nmtcore.features.arrays import blocks, row_type, rows_where


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """Padded lengths (integers), one entry per sentence pair; target lengths are 0 if there are no targets."""

    source: np.ndarray
    target: np.ndarray

    def take(self, rows: np.ndarray) -> "Lengths":
        """Return the lengths of the pairs `rows`."""
        return Lengths(source=self.source[rows], target=self.target[rows])

    @property
    def longer(self) -> np.ndarray:
        """The length of each pair's longer side: a batch's size in tokens is its rows times the largest of these."""
        return np.maximum(self.source, self.target)

    @property
    def shorter(self) -> np.ndarray:
        """The length of each pair's shorter side."""
        return np.minimum(self.source, self.target)


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
        sizes = lengths.take(pool)
        longer = sizes.longer
        order = np.lexsort((sizes.shorter, longer))
        pool[:] = pool[order]
        ends.append(start + _batch_ends(longer[order], unit=settings.unit, size=settings.size))
    stops = np.concatenate(ends)
    starts = np.concatenate([[0], stops[:-1]]).astype(np.int64)
    order = generator.permutation(len(stops))
    return EpochPlan(rows=shuffled, starts=starts[order], ends=stops[order])


class EndlessPlan:
    """The batches of one epoch after another, numbered from 0 without end.

    Batch n depends only on n and on `plan`, a function of the epoch. Reading batches in order is fast, since each epoch
    is planned once.
    """

    def __init__(self, plan: Callable[[int], EpochPlan]) -> None:
        self._plan = plan
        self._restart()

    def _restart(self) -> None:
        self._epoch, self._first, self._current = 0, 0, self._plan(0)

    def __getitem__(self, number: int) -> np.ndarray:
        if number < self._first:
            self._restart()
        while number >= self._first + len(self._current):
            self._first += len(self._current)
            self._epoch += 1
            self._current = self._plan(self._epoch)
        return self._current[number - self._first]


def rows_within_length(source: np.ndarray, target: np.ndarray, *, max_length: int | None) -> np.ndarray:
    """Return the rows whose sides both have at most `max_length` subwords; None means no limit.

    `source` and `target` count subwords without `</s>` and without the tags of words.
    """
    if max_length is None:
        return np.arange(len(source), dtype=row_type(len(source)))
    return rows_where((source <= max_length) & (target <= max_length))


def micro_batches(
    rows_B: np.ndarray, lengths: Lengths, settings: BatchSettings, *, rank: int, world_size: int
) -> list[np.ndarray]:
    """Pick the rows of a batch that go to device `rank`, and cut them into micro-batches.

    Row i of the batch goes to device i modulo `world_size`, so that all devices get sentences of similar lengths.
    `lengths` are those of all pairs. If a batch has fewer rows than there are devices, some get an empty list.
    """
    own_rows = rows_B[rank::world_size]
    if not len(own_rows):
        return []
    size = settings.device_size or settings.size
    ends = _batch_ends(lengths.take(own_rows).longer, unit=settings.unit, size=size)
    return np.split(own_rows, ends[:-1])


def validation_batches(lengths: Lengths, settings: BatchSettings) -> list[np.ndarray]:
    """Cut all rows, shortest first, into batches that fit one device."""
    rows = np.lexsort((lengths.shorter, lengths.longer))
    size = settings.device_size or settings.size
    ends = _batch_ends(lengths.longer[rows], unit=settings.unit, size=size)
    return np.split(rows, ends[:-1])


def _rows_per_pool(lengths: Lengths, kept: np.ndarray, settings: BatchSettings) -> int:
    if settings.unit == "sentences":
        return max(1, settings.pool * settings.size)
    tokens = sum(int(lengths.take(kept[block]).longer.sum()) for block in blocks(len(kept)))
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
