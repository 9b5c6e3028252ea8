"""Map a function over a stream in worker processes, in order, with only a few items in memory."""

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import TypeVar

from nmtcore.errors import UserError

Item = TypeVar("Item")
Result = TypeVar("Result")


def available_cores() -> int:
    """Count the processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Split a stream into lists of `size` items; the last list may be shorter."""
    items = iter(items)
    while batch := list(islice(items, size)):
        yield batch


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item], *, processes: int) -> Iterator[Result]:
    """Yield `function(item)` for every item, in order; a single item needs no worker process.

    At most twice as many items as processes are in progress at a time. Raises `UserError` if a worker is killed
    (`multiprocessing.Pool` would wait for it forever).
    """
    items = iter(items)
    first = list(islice(items, 2))
    if processes < 2 or len(first) < 2:
        yield from map(function, chain(first, items))
        return
    # Fork: a spawned process would import the main module again, which fails in Snakemake's scripts.
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
                f"One of {processes} worker processes was killed, most likely because memory ran out: allow fewer"
                " cores or more memory, and start again."
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
