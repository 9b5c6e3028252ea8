"""Which pairs each update sees: a pure function of (lengths, settings, seed, epoch), then of the rank.

Lengths here are *padded* lengths: subwords with the end of sentence and whatever a component puts before them.
A batch belongs to all devices together; `share` deals it to them and cuts it to what one device takes at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nmtcore.config.training import BatchSettings


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """The padded lengths of both sides of every pair, int64 (N,); targets are 0 where there are none."""

    source: np.ndarray
    target: np.ndarray

    @property
    def longer(self) -> np.ndarray:
        """The longer side's length: a batch's size in tokens is rows times the largest of these."""
        return np.maximum(self.source, self.target)

    @property
    def shorter(self) -> np.ndarray:
        """The other side's length."""
        return np.minimum(self.source, self.target)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The batches of one epoch in the order of training; `plan[step]` are a batch's rows, shortest pairs first."""

    rows: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, step: int) -> np.ndarray:
        return self.rows[self.starts[step] : self.ends[step]]


def plan_epoch(lengths: Lengths, kept: np.ndarray, settings: BatchSettings, *, seed: int, epoch: int) -> Plan:
    """Plan one epoch (counted from 0) over the rows `kept`: each of them is in exactly one batch.

    The rows are shuffled, cut into pools of about `settings.pool` batches, sorted by length within a pool (the longer
    side, then the other), cut into batches, and the batches shuffled. A pair that alone is larger than a batch is a
    batch of its own.
    """
    generator = np.random.default_rng((seed, epoch))
    shuffled = generator.permutation(kept)
    longer, shorter = lengths.longer, lengths.shorter
    per_pool = _rows_per_pool(longer[shuffled], settings)
    ends: list[int] = []
    for start in range(0, len(shuffled), per_pool):
        pool = shuffled[start : start + per_pool]
        pool = pool[np.lexsort((shorter[pool], longer[pool]))]
        shuffled[start : start + per_pool] = pool
        ends += (start + _cut(longer[pool], unit=settings.unit, size=settings.size)).tolist()
    stops = np.array(ends, dtype=np.int64)
    starts = np.concatenate([[0], stops[:-1]]).astype(np.int64)
    order = generator.permutation(len(stops))
    return Plan(rows=shuffled, starts=starts[order], ends=stops[order])


class EndlessPlan:
    """The batches of one epoch after another; batch n (from 0) depends on `plan`, a function of the epoch, and n alone.

    Walking forwards is fast; each epoch is planned once.
    """

    def __init__(self, plan: Callable[[int], Plan]) -> None:
        self._plan = plan
        self._restart()

    def _restart(self) -> None:
        self._epoch, self._first, self._now = 0, 0, self._plan(0)

    def __getitem__(self, number: int) -> np.ndarray:
        if number < self._first:
            self._restart()
        while number >= self._first + len(self._now):
            self._first += len(self._now)
            self._epoch += 1
            self._now = self._plan(self._epoch)
        return self._now[number - self._first]


def rows_within_length(source: np.ndarray, target: np.ndarray, *, max_length: int | None) -> np.ndarray:
    """Give the rows of which neither side (subwords without the end of sentence) is longer than `max_length`.

    None stands for no limit.
    """
    if max_length is None:
        return np.arange(len(source))
    return np.flatnonzero((source <= max_length) & (target <= max_length))


def share(rows: np.ndarray, longer: np.ndarray, settings: BatchSettings, *, rank: int, ranks: int) -> list[np.ndarray]:
    """Deal a batch to `ranks` devices and cut the part of device `rank` into what it takes at once.

    Row i of the batch goes to device i modulo `ranks`, so that all get sentences of the same lengths. `longer` are the
    padded lengths of all pairs. Where there are fewer rows than devices, some get an empty list.
    """
    mine = rows[rank::ranks]
    if not len(mine):
        return []
    size = settings.device_size or settings.size
    ends = _cut(longer[mine], unit=settings.unit, size=size)
    return np.split(mine, ends[:-1])


def blocks(lengths: Lengths, settings: BatchSettings) -> list[np.ndarray]:
    """Cut all rows, shortest first, into batches that one device takes at once (for validation)."""
    rows = np.lexsort((lengths.shorter, lengths.longer))
    ends = _cut(lengths.longer[rows], unit=settings.unit, size=settings.device_size or settings.size)
    return np.split(rows, ends[:-1])


def _rows_per_pool(longer: np.ndarray, settings: BatchSettings) -> int:
    per_batch = settings.size if settings.unit == "sentences" else settings.size * len(longer) / max(1, longer.sum())
    return max(1, round(settings.pool * per_batch))


def _cut(longer: np.ndarray, *, unit: str, size: int) -> np.ndarray:
    """Cut rising lengths (n,) into runs as long as fit into `size`; give the end of each run."""
    n = len(longer)
    if unit == "sentences":
        return np.minimum(np.arange(size, n + size, size), n)
    ends = []
    start = 0
    while start < n:
        # With rising lengths, rows times the last one's length rises too; more rows than this cannot fit.
        window = longer[start : start + max(1, size // max(1, int(longer[start])))]
        fitting = int(np.searchsorted(window * np.arange(1, len(window) + 1), size, side="right"))
        start += max(1, fitting)
        ends.append(start)
    return np.array(ends, dtype=np.int64)
