"""A map over a stream, in order, on several processes, that never holds more than a few items."""

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import TypeVar

from nmtcore.errors import UserError

A = TypeVar("A")
B = TypeVar("B")


def available_cores() -> int:
    """Count the processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def batched(items: Iterable[A], size: int) -> Iterator[list[A]]:
    """Cut a stream into lists of `size` items; the last may be shorter."""
    items = iter(items)
    while chunk := list(islice(items, size)):
        yield chunk


def ordered_map(function: Callable[[A], B], items: Iterable[A], *, processes: int, least: int = 2) -> Iterator[B]:
    """Yield `function(item)` for every item, in order.

    Processes are started only when there are more than one of them and at least `least` items. At most twice as many
    items as processes are under way at a time.
    """
    items = iter(items)
    first = list(islice(items, least))
    if processes < 2 or len(first) < least:
        yield from map(function, chain(first, items))
        return
    # Forked, not spawned: a spawned process would import the main module again, which Snakemake's scripts do not allow.
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("fork")) as pool:
        waiting: deque = deque()
        try:
            for item in chain(first, items):
                waiting.append(pool.submit(function, item))
                if len(waiting) >= 2 * processes:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            raise UserError(
                f"One of {processes} processes was killed, most likely because memory ran out: allow fewer cores or "
                "more memory, and start again."
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
