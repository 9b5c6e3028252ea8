"""Batches of sentences for inference, and their distribution over threads."""

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
"""Source tokens per batch, padding included. It limits batches of very long sentences."""


def sentences_at_once(setting: int | None, device: torch.device) -> int:
    """Return `decoding.batch_sentences`, or what suits the device: a GPU takes large batches in hardly more time."""
    return setting or (512 if device.type == "cuda" else 64)


def batches_by_length(lengths: np.ndarray, *, sentences: int, tokens: int = MAX_TOKENS) -> list[np.ndarray]:
    """Sort rows by length and cut them into batches of at most `sentences` rows, given as indices into `lengths`.

    A batch of several rows has at most so many `tokens`, padding and `</s>` included. The longest come first, so that a
    model that does not fit into memory fails at once.
    """
    order = np.argsort(-lengths, kind="stable")
    batches, start = [], 0
    while start < len(order):
        longest = int(lengths[order[start]]) + 1
        stop = start + max(1, min(sentences, tokens // longest))
        batches.append(order[start:stop])
        start = stop
    return batches


REDUCE_BATCH = "Lower decoding.batch_sentences (nmtcore translate: --batch), or use the CPU (--device cpu)."
"""Advice for a full GPU if `decoding.batch_sentences` is the batch size."""
USE_CPU = "Use the CPU: --device cpu."
"""Advice for a full GPU if no setting changes the batch size."""
ON_CPU = "Cut long sentences into parts, or lower decoding.batch_sentences (nmtcore translate: --batch)."
"""Advice if the computer's memory is full."""


def map_batches(
    model: nn.Module, batches: Sequence[np.ndarray], work: Callable[[np.ndarray], T], *, advice: str = REDUCE_BATCH
) -> Iterator[T]:
    """Yield `work(rows)` for every batch, in order, without dropout or gradients; then restore the model's mode.

    On a CPU each thread processes its own batches, since one search step is too small to be split. Results therefore
    do not depend on the number of threads. Raises `UserError` if a batch exceeds the memory; of a GPU, with `advice`.
    """

    @torch.inference_mode()
    def process(rows: np.ndarray) -> T:
        with explain_out_of_memory(advice, on_cpu=ON_CPU):
            return work(rows)

    threads = torch.get_num_threads() if device_of(model).type == "cpu" else 1
    with _evaluation_mode(model):
        if min(threads, len(batches)) < 2:
            yield from map(process, batches)
            return
        try:
            with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                yield from pool.map(process, batches)
        finally:
            # For some of torch's libraries, the number of threads set by a worker applies to the whole process.
            torch.set_num_threads(threads)


@contextmanager
def _evaluation_mode(model: nn.Module) -> Iterator[None]:
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)


def device_of(model: nn.Module) -> torch.device:
    """Return the device of a model's parameters."""
    return next(model.parameters()).device
