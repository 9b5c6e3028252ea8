"""Which sentences go through the model together, and how batches are shared out."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import torch
from torch import nn

from nmtcore.model.device import explain_out_of_memory

T = TypeVar("T")

MAX_TOKENS = 16384
"""Source tokens (padding counted) of one batch at most: few sentences where they are very long."""


def batches_by_length(lengths: np.ndarray, *, sentences: int) -> list[np.ndarray]:
    """Cut the rows, longest first, into batches of at most `sentences` rows: indices into `lengths`.

    The longest come first so that a model that does not fit the memory fails at once.
    """
    order = np.argsort(-lengths, kind="stable")
    batches, start = [], 0
    while start < len(order):
        longest = int(lengths[order[start]]) + 1
        stop = start + max(1, min(sentences, MAX_TOKENS // longest))
        batches.append(order[start:stop])
        start = stop
    return batches


REDUCE_BATCH = "Lower decoding.batch_sentences (nmtcore translate: --batch), or take the CPU (--device cpu)."
"""What to do when a GPU's memory is full, where `decoding.batch_sentences` is the size of a batch."""
USE_CPU = "Take the CPU: --device cpu."
"""The same where no setting is."""


def map_batches(
    model: nn.Module, batches: Sequence[np.ndarray], work: Callable[[np.ndarray], T], *, advice: str = REDUCE_BATCH
) -> Iterator[T]:
    """Yield `work(rows)` of every batch, in order, without dropout and gradients; the model trains on afterwards.

    On a CPU every thread works on a batch of its own: one step of a search is too little to be shared out. So the
    results do not depend on the number of threads either. A batch that does not fit a GPU's memory is a `UserError`
    with this `advice`.
    """

    @torch.inference_mode()
    def result(rows: np.ndarray) -> T:
        with explain_out_of_memory(advice):
            return work(rows)

    threads = torch.get_num_threads() if device_of(model).type == "cpu" else 1
    with _evaluating(model):
        if min(threads, len(batches)) < 2:
            yield from map(result, batches)
            return
        try:
            with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                yield from pool.map(result, batches)
        finally:
            # What the workers set for themselves holds for some of torch's libraries everywhere.
            torch.set_num_threads(threads)


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)


def device_of(model: nn.Module) -> torch.device:
    """Say where a model's parameters are."""
    return next(model.parameters()).device
