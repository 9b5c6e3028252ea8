"""The device that a model computes on: chosen, checked and made ready in one place; and what to do when it is full."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from nmtcore.errors import UserError


def choose_device(name: str) -> str:
    """Turn "auto" into a GPU where there is one, else the CPU."""
    return name if name != "auto" else "cuda" if torch.cuda.is_available() else "cpu"


def prepare_device(name: str | torch.device) -> torch.device:
    """Give the device of a name, made ready for our models; whatever computes on a GPU calls this first.

    A name that torch does not know, or a GPU that is not visible, is a `UserError`.
    """
    kind, colon, number = str(name).partition(":")
    if kind != "cuda" and kind.lower() in ("gpu", "cuda"):
        raise UserError(f"The device '{name}' cannot be used: torch calls a GPU cuda. Try cuda{colon}{number}, or cpu.")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UserError(f"The device '{name}' cannot be used ({str(error).splitlines()[0]}); try cpu.") from error
    if device.type == "cuda":
        if (device.index or 0) >= torch.cuda.device_count():
            raise UserError(f"The device '{name}' cannot be used ({visible_gpus()}); try cpu.")
        # With a mask, cuDNN's attention can give gradients that are not numbers (bf16, length % 128 == 64; torch issue
        # 196678), and it spends half a second or more on each new shape, of which training sees hundreds. The flag is
        # the process's; nothing here turns it on again.
        torch.backends.cuda.enable_cudnn_sdp(False)
    return device


def check_gpus(asked: int) -> None:
    """Raise a `UserError` where fewer GPUs are visible than processes want one each."""
    if asked > torch.cuda.device_count():
        raise UserError(
            f"gpus: {asked} asks for a GPU for each of {asked} processes, but {visible_gpus()}: lower gpus in "
            "config.yaml, or give the job more GPUs."
        )


def visible_gpus() -> str:
    """Say how many GPUs this process sees, and what CUDA_VISIBLE_DEVICES leaves of them."""
    count, chosen = torch.cuda.device_count(), os.environ.get("CUDA_VISIBLE_DEVICES")
    seen = "1 GPU is visible here" if count == 1 else f"{count or 'no'} GPUs are visible here"
    return seen if chosen is None else f"{seen} with CUDA_VISIBLE_DEVICES={chosen}"


@contextmanager
def memory_explained(advice: str) -> Iterator[None]:
    """Turn a GPU's lack of memory into a `UserError` that ends with `advice`, a sentence that says what to lower."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        # What follows is advice about torch's allocator.
        said, free, _ = str(error).partition(" is free.")
        raise UserError(f"The GPU's memory is full ({(said + free).splitlines()[0].rstrip('.')}). {advice}") from error
