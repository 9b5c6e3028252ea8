"""Which sentences go through the model together."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import nn

TOKENS = 16384
"""Source tokens (padding counted) of one batch at most: few sentences where they are very long."""


def batches_by_length(lengths: np.ndarray, *, sentences: int) -> list[np.ndarray]:
    """Cut the rows, longest first, into batches of at most `sentences` rows: indices into `lengths`.

    The longest come first so that a model that does not fit the memory fails at once.
    """
    order = np.argsort(-lengths, kind="stable")
    batches, start = [], 0
    while start < len(order):
        longest = int(lengths[order[start]]) + 1
        stop = start + max(1, min(sentences, TOKENS // longest))
        batches.append(order[start:stop])
        start = stop
    return batches


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Switch off dropout and gradients; afterwards the model trains on if it did before."""
    training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        model.train(training)


def device_of(model: nn.Module) -> torch.device:
    """Say where a model's parameters are."""
    return next(model.parameters()).device
