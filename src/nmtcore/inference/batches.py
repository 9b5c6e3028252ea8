"""Batches of sentences for inference, and their distribution over threads.

Shapes: B sentences.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import numpy as np
import torch
from torch import nn

from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch, make_batch
from nmtcore.model.device import explain_out_of_memory

T = TypeVar("T")

MAX_TOKENS = 16384
"""Source tokens per batch, padding included. It limits batches of very long sentences."""

ON_GPU = (
    "Use the CPU (--device cpu) or, to translate or parse, lower machine.batch_sentences in config.yaml (nmtcore "
    "translate: --batch)."
)
"""Advice if a GPU's memory is full."""
ON_CPU = "Cut long sentences into parts, or lower machine.batch_sentences in config.yaml (nmtcore translate: --batch)."
"""Advice if the computer's memory is full."""


def in_batches(
    model: TranslationModel,
    examples: Examples,
    work: Callable[[Batch, np.ndarray], Sequence[T]],
    *,
    sentences: int | None = None,
    tokens: int = MAX_TOKENS,
) -> list[T]:
    """Return the results of `work` for all examples, in order, from batches of similar length.

    `work` gets a batch of at most `sentences` examples and their rows (B) in `examples`, and returns a result for each.
    By default, a batch has 64 sentences, and 512 on a GPU, which takes them in hardly more time. See `map_batches` for
    errors.
    """
    lengths = examples.source.ids.lengths
    if examples.target is not None:
        lengths = np.maximum(lengths, examples.target.ids.lengths)
    sentences = sentences or (512 if device_of(model).type == "cuda" else 64)
    batches = batches_by_length(lengths, sentences=sentences, tokens=tokens)
    results: list = [None] * len(examples)
    for rows_B, results_B in zip(batches, map_batches(model, examples, batches, work), strict=True):
        for row, result in zip(rows_B.tolist(), results_B, strict=True):
            results[row] = result
    return results


def batches_by_length(lengths: np.ndarray, *, sentences: int, tokens: int = MAX_TOKENS) -> list[np.ndarray]:
    """Sort rows by length and cut them into batches of at most `sentences` rows, given as indices into `lengths`.

    A batch of several rows has at most so many `tokens`, padding and `</s>` included. The longest come first, so that a
    model that does not fit into memory fails at once.
    """
    order = np.argsort(-lengths, kind="stable")
    batches, start = [], 0
    while start < len(order):
        stop = start + max(1, min(sentences, tokens // (int(lengths[order[start]]) + 1)))
        batches.append(order[start:stop])
        start = stop
    return batches


def map_batches(
    model: TranslationModel,
    examples: Examples,
    batches: Sequence[np.ndarray],
    work: Callable[[Batch, np.ndarray], T],
) -> Iterator[T]:
    """Yield `work(batch, rows_B)` for the rows of every batch, without dropout or gradients; restore the model's mode.

    On a CPU each thread processes its own batches, since one search step is too small to be split. Results therefore
    do not depend on the number of threads. Raises `UserError` if a batch exceeds the memory.
    """
    components, device, training = tuple(model.components), device_of(model), model.training

    @torch.inference_mode()
    def process(rows_B: np.ndarray) -> T:
        with explain_out_of_memory(ON_GPU, on_cpu=ON_CPU):
            return work(make_batch(examples, rows_B, components, device), rows_B)

    threads = torch.get_num_threads()
    model.eval()
    try:
        if device.type != "cpu" or min(threads, len(batches)) < 2:
            yield from map(process, batches)
        else:
            with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                yield from pool.map(process, batches)
    finally:
        model.train(training)
        # For some of torch's libraries, the number of threads set by a worker applies to the whole process.
        torch.set_num_threads(threads)


def device_of(model: nn.Module) -> torch.device:
    """Return the device of a model's parameters."""
    return next(model.parameters()).device


def with_targets(examples: Examples, translations: Sequence[Sequence[int]]) -> Examples:
    """Replace the targets of examples by translations, as ids without `</s>`; all their subwords are of one word."""
    ids = Ragged.from_lists(translations, np.int32)
    return replace(
        examples, target=SideExamples(ids=ids, word_of_subword=Ragged(np.zeros_like(ids.values), ids.offsets))
    )
