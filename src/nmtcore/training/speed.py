"""How fast and how large a training is: the operations of an update, a GPU's peak, and the peak memory."""

import resource
import time
from collections.abc import Sequence

import torch

from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch
from nmtcore.model.losses import TRANSLATION

OPERATIONS = 6
"""Per entry of a weight matrix and token: a multiplication and an addition forward, and twice as many backward."""
PRODUCTS = 10
"""Matrix products by which a peak is measured."""


def update_operations(model: TranslationModel, batches: Sequence[Batch]) -> int:
    """Count the operations of an update in products with weight matrices of the base, without padding.

    Products within attention, and those of components, are left out: some percent.
    """
    source, target = model.settings.weights
    target += model.target_embedding.weight.numel()
    sources = sum(int(batch.source_lengths_B.sum()) for batch in batches)  # on the CPU: no waiting for a GPU
    return OPERATIONS * (source * sources + target * sum(batch.counts.get(TRANSLATION, 0) for batch in batches))


def measured_peak(device: torch.device, precision: str, *, width: int = 8192) -> float:
    """Return the operations per second of a square matrix product, "bf16" or otherwise fp32, after a first one."""
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    left, right = (torch.randn(width, width, device=device).to(dtype) for _ in range(2))
    for products in (1, PRODUCTS):
        began = time.perf_counter()
        for _ in range(products):
            left @ right
        if device.type == "cuda":
            torch.cuda.synchronize(device)
    return 2 * width**3 * PRODUCTS / (time.perf_counter() - began)


def peak_memory(device: torch.device) -> int:
    """Return the largest number of bytes so far: of tensors on a GPU, else of this process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
