"""Choosing and checking the device of a model, its speed and memory, and explaining a lack of memory."""

import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from nmtcore.errors import UserError
from nmtcore.gpus import jobs_per_gpu

_PROCESSORS = Path("/proc/cpuinfo")

PRODUCTS = 10
"""Matrix products by which a peak is measured."""


def choose_device(name: str) -> str:
    """Replace "auto" by "cuda" if a GPU is visible, else by "cpu"; return other names of `named_device` unchanged."""
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return str(named_device(name))


def named_device(name: str | torch.device) -> torch.device:
    """Return the device with this name. Raises UserError if torch does not know it, or if the GPU is not visible."""
    try:
        device = torch.device(name)
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"The device '{name}' cannot be used ({reason}); try cpu, or cuda for a GPU.") from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise UserError(f"The device '{name}' cannot be used ({_visible()}); try cpu.")
    return device


def processor(key: str) -> str | None:
    """Return what Linux says of the first processor, such as its "model name"; None if it says nothing."""
    lines = _PROCESSORS.read_text(encoding="utf-8", errors="replace").splitlines() if _PROCESSORS.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == key), None)


def check_gpu_count(processes: int) -> None:
    """Raise UserError if fewer GPUs are visible than there are processes, which need one GPU each."""
    if processes > torch.cuda.device_count():
        raise UserError(
            f"gpus: {processes} requests one GPU for each of {processes} processes, but {_visible()}. Lower gpus "
            "in config.yaml, or give the job more GPUs."
        )


def _visible() -> str:
    """Say how many GPUs are visible to this process, and quote CUDA_VISIBLE_DEVICES if it is set."""
    count, limit = torch.cuda.device_count(), os.environ.get("CUDA_VISIBLE_DEVICES")
    clause = "1 GPU is visible here" if count == 1 else f"{count or 'no'} GPUs are visible here"
    return clause if limit is None else f"{clause} with CUDA_VISIBLE_DEVICES={limit}"


@contextmanager
def explain_out_of_memory(advice: str, *, on_cpu: str | None = None) -> Iterator[None]:
    """Replace torch's error for a full memory by a `UserError` that ends with `advice`, a sentence on what to lower.

    `on_cpu` is the advice if it is the computer's memory and not a GPU's (default: the same).
    """
    try:
        yield
    except RuntimeError as error:
        on_gpu = isinstance(error, torch.OutOfMemoryError)
        if on_gpu and jobs_per_gpu() > 1:
            advice += f" Or lower machine.jobs_per_gpu: {jobs_per_gpu()} jobs may share a GPU now."
        if not on_gpu and "DefaultCPUAllocator" not in str(error):
            raise
        memory, advice = ("The GPU's memory", advice) if on_gpu else ("The memory", on_cpu or advice)
        # The rest of torch's message is advice about its allocator.
        sizes, end, _ = str(error).partition(" is free.")
        raise UserError(f"{memory} is full ({(sizes + end).splitlines()[0].rstrip('.')}). {advice}") from error


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
