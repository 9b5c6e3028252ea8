"""Making the batches of coming updates in a thread, while the current update is computed."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import torch

from nmtcore.config.training import BatchSettings
from nmtcore.model.batch import Batch

MakeBatches = Callable[[], list[Batch]]
"""Makes the batches of one update; arguments that later change must be bound."""


class Prefetcher:
    """Makes the batches of updates, those of the next `ahead` updates in advance.

    One thread makes all batches, in the order of updates. Without `ahead`, there is no thread.
    """

    def __init__(self, *, ahead: int, device: torch.device) -> None:
        self._ahead = ahead
        self._pending: deque[tuple[int, Future]] = deque()
        self._thread = ThreadPoolExecutor(1, "batches", initializer=_choose, initargs=(device,)) if ahead else None

    def take(self, update: int, maker: Callable[[int], MakeBatches], *, end: int) -> list[Batch]:
        """Return the batches of an update, and begin with those of the next ones before `end`.

        `maker` binds what an update's batches are made of; `update` must be the one after the last that was taken, or
        the last `end`. An error of the thread is raised when the update that it concerns is taken.
        """
        if self._thread is None:
            return maker(update)()
        begun = self._pending[-1][0] + 1 if self._pending else update
        for number in range(begun, min(update + 1 + self._ahead, end)):
            self._pending.append((number, self._thread.submit(maker(number))))
        number, batches = self._pending.popleft()
        assert number == update, f"batches of update {number} were made, not of {update}"
        return batches.result()

    def close(self) -> None:
        """End the thread after the batch that it is making."""
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=True)
        self._pending.clear()


def prefetched_updates(settings: BatchSettings, device: torch.device) -> int:
    """Return the number of updates whose batches are made in advance."""
    if settings.prefetch is not None:
        return settings.prefetch
    return int(device.type == "cuda")


def _choose(device: torch.device) -> None:
    """Choose the GPU; each thread has a current one, the first by default, on which it pins memory."""
    if device.type == "cuda" and device.index is not None:
        torch.cuda.set_device(device)
