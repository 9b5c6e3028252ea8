"""Several devices under torchrun: who is who, and the few sums that they share."""

import datetime
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import distributed, nn

from nmtcore.errors import UserError
from nmtcore.model.device import check_gpu_count, prepare_device
from nmtcore.training.signals import Interrupted

_LONGEST_WAIT = datetime.timedelta(hours=6)
"""The other processes wait while the first one waits for the lock, validates by translating or writes a checkpoint."""
_LONGEST_EXCHANGE = datetime.timedelta(minutes=10)
"""Of gradients and weights, at which all processes arrive at about the same time."""


class OtherProcessEnded(UserError):
    """Another process of the training ended; its own message says why."""


@contextmanager
def _with_the_others() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        # torch writes a place in its source before what happened, and advice after it.
        said = re.sub(r"^\[\S*\] ", "", str(error).splitlines()[0]).split(". ")[0]
        raise OtherProcessEnded(
            f"Another process of this training ended ({said}): its own message says why. Start the training again and "
            "it goes on from its last checkpoint."
        ) from error


class World:
    """One process of `size`, with its device. With one process, sums are what goes in."""

    def __init__(self, *, rank: int = 0, size: int = 1, device: torch.device, devices: object = None) -> None:
        self.rank = rank
        self.size = size
        self.device = device
        self._devices = devices
        """The group that exchanges tensors of the devices. Numbers go by the CPU, so that nothing waits for a GPU."""

    @property
    def main(self) -> bool:
        """Whether this process writes files and speaks."""
        return self.rank == 0

    def total(self, numbers: Sequence[float]) -> list[float]:
        """Sum numbers (float64) over all processes."""
        if self.size == 1:
            return list(numbers)
        tensor = torch.tensor(numbers, dtype=torch.float64)
        with _with_the_others():
            distributed.all_reduce(tensor)
        return tensor.tolist()

    def any(self, said: bool) -> bool:
        """Tell whether any process says so."""
        return self.total([float(said)])[0] > 0

    def wait(self) -> None:
        """Wait until every process is here, however long one takes."""
        self.total([0.0])

    def share_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Sum gradients over all processes, flattened into one exchange; one that is missing counts as zero."""
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        if self.size == 1:
            return
        flat = torch.cat([parameter.grad.flatten() for parameter in parameters])
        with _with_the_others():
            distributed.all_reduce(flat, group=self._devices)
        pieces = flat.split([parameter.numel() for parameter in parameters])
        for parameter, piece in zip(parameters, pieces, strict=True):
            parameter.grad.copy_(piece.view_as(parameter))

    def share_weights(self, tensors: Sequence[torch.Tensor]) -> None:
        """Give every process the first one's tensors."""
        if self.size > 1:
            with _with_the_others():
                for tensor in tensors:
                    distributed.broadcast(tensor.detach(), src=0, group=self._devices)


@contextmanager
def join_world(device: torch.device | str) -> Iterator[World]:
    """Join the processes that torchrun started (by its environment variables), or be alone.

    On GPUs, process `LOCAL_RANK` takes the device of that number. Within the context, whatever needs a process that is
    gone raises `OtherProcessEnded`.
    """
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield World(device=prepare_device(device))
        return
    device = _own_device(torch.device(device), size)
    # Long waits go by gloo, which notices at once when a process ends; NCCL notices only when its time is over.
    distributed.init_process_group("gloo", timeout=_LONGEST_WAIT)
    backend = "nccl" if device.type == "cuda" else "gloo"
    devices = distributed.new_group(backend=backend, timeout=_LONGEST_EXCHANGE)
    try:
        yield World(rank=distributed.get_rank(), size=size, device=device, devices=devices)
    except Interrupted:
        distributed.destroy_process_group()
        raise
    # All processes arrive here, and together in the branch above. A process that fails by itself destroys no group: it
    # would wait for what the others have begun. They notice when it ends.
    distributed.destroy_process_group()


def _own_device(device: torch.device, size: int) -> torch.device:
    """Give the device of this process: on GPUs, one for each process."""
    if device.type != "cuda":
        return prepare_device(device)
    check_gpu_count(int(os.environ.get("LOCAL_WORLD_SIZE", size)))
    device = prepare_device(torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))))
    torch.cuda.set_device(device)
    return device


def silent(_: str) -> None:
    """Log nothing: the first process speaks for all."""
