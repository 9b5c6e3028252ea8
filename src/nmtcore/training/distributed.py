"""Several devices under torchrun: who is who, and the few sums that they share."""

import datetime
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import distributed, nn

_LONGEST_WAIT = datetime.timedelta(hours=6)
"""The other processes wait while the first one waits for the lock or validates by translating."""


class World:
    """One process of `size`, with its device. With one process, sums are what goes in."""

    def __init__(self, *, rank: int = 0, size: int = 1, device: torch.device, control: object = None) -> None:
        self.rank = rank
        self.size = size
        self.device = device
        # Small sums of numbers go by the CPU, so that no GPU has to be waited for.
        self._control = control

    @property
    def main(self) -> bool:
        """Whether this process writes files and speaks."""
        return self.rank == 0

    def total(self, numbers: Sequence[float]) -> list[float]:
        """Sum numbers (float64) over all processes."""
        if self.size == 1:
            return list(numbers)
        tensor = torch.tensor(numbers, dtype=torch.float64)
        distributed.all_reduce(tensor, group=self._control)
        return tensor.tolist()

    def any(self, said: bool) -> bool:
        """Tell whether any process says so."""
        return self.total([float(said)])[0] > 0

    def wait(self) -> None:
        """Wait until every process is here."""
        self.total([0.0])

    def share_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Sum gradients over all processes, flattened into one exchange; one that is missing counts as zero."""
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        if self.size == 1:
            return
        flat = torch.cat([parameter.grad.flatten() for parameter in parameters])
        distributed.all_reduce(flat)
        pieces = flat.split([parameter.numel() for parameter in parameters])
        for parameter, piece in zip(parameters, pieces, strict=True):
            parameter.grad.copy_(piece.view_as(parameter))

    def share_weights(self, tensors: Sequence[torch.Tensor]) -> None:
        """Give every process the first one's tensors."""
        if self.size > 1:
            for tensor in tensors:
                distributed.broadcast(tensor.detach(), src=0)


@contextmanager
def world(device: torch.device | str) -> Iterator[World]:
    """Join the processes that torchrun started (by its environment variables), or be alone.

    On GPUs, process `LOCAL_RANK` takes the device of that number.
    """
    device = torch.device(device)
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield World(device=device)
        return
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=_LONGEST_WAIT)
    try:
        control = distributed.new_group(backend="gloo", timeout=_LONGEST_WAIT)
        yield World(rank=distributed.get_rank(), size=size, device=device, control=control)
    finally:
        distributed.destroy_process_group()
