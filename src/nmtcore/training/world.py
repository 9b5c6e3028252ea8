"""The processes of a training, their devices and exchanges, and the signals that stop it."""

import datetime
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

import torch
from torch import distributed, nn

from nmtcore.errors import UserError
from nmtcore.model.device import check_gpu_count, named_device

T = TypeVar("T")

HANDLED = (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT)
"""The signals that stop training: it finishes the update, writes a checkpoint and ends."""

_NUMBER_TIMEOUT = datetime.timedelta(hours=6)
"""For sums of numbers: the others wait while the first process takes the lock, validates or writes a checkpoint."""
_TENSOR_TIMEOUT = datetime.timedelta(minutes=10)
"""For gradients and weights, which all processes exchange at about the same time."""


class Interrupted(UserError):
    """A signal stopped training after its checkpoint was written; started again, training resumes from there."""


class _StopWork(Exception):
    """Raised by the signal handler inside interruptible work."""


class Signals:
    """Records the signals that stop training, within `with signals.handled():`.

    Repeated signals have no further effect: Slurm and torchrun may both send the same one, and the checkpoint must
    still be written.
    """

    def __init__(self) -> None:
        self.received: str | None = None
        """The name of the last signal received."""
        self._interruptible = False

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Handle the signals inside the block; do nothing outside the main thread, where Python does not allow it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        previous = {number: signal.signal(number, self._handle) for number in HANDLED}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def interruptible(self, work: Callable[[], T]) -> T | None:
        """Do long work without side effects, such as a validation; return None if a signal arrives before it ends."""
        try:
            self._interruptible = True
            result = work() if self.received is None else None
            self._interruptible = False
            return result
        except _StopWork:
            return None
        finally:
            self._interruptible = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.received = signal.Signals(number).name
        if self._interruptible:
            self._interruptible = False
            raise _StopWork


class OtherProcessEnded(UserError):
    """Another process of the training ended; its own message says why."""


@contextmanager
def _detect_ended_processes() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        # torch puts a position in its source before the cause, and advice after it.
        cause = re.sub(r"^\[\S*\] ", "", str(error).splitlines()[0]).split(". ")[0]
        raise OtherProcessEnded(
            f"Another process of this training ended ({cause}): its own message says why. Start the training again; it "
            "resumes from its last checkpoint."
        ) from error


class World:
    """One of the `size` processes of a training, with its device. With one process, sums return their arguments."""

    def __init__(self, *, rank: int = 0, size: int = 1, device: torch.device, tensor_group: object = None) -> None:
        self.rank = rank
        self.size = size
        self.device = device
        self._tensor_group = tensor_group
        """The process group for tensors on the devices. Numbers go over the CPU, so that no process waits for a GPU."""

    @property
    def is_main(self) -> bool:
        """Whether this is the first process, which alone writes files and messages."""
        return self.rank == 0

    def sum(self, numbers: Sequence[float]) -> list[float]:
        """Sum numbers (float64), entry by entry, over all processes."""
        if self.size == 1:
            return list(numbers)
        vector = torch.tensor(numbers, dtype=torch.float64)
        with _detect_ended_processes():
            distributed.all_reduce(vector)
        return vector.tolist()

    def sum_by_name(self, numbers: Mapping[str, float]) -> dict[str, float]:
        """Sum named numbers over all processes, which have the same names in the same order."""
        return dict(zip(numbers, self.sum(list(numbers.values())), strict=True))

    def any(self, condition: bool) -> bool:
        """Return whether the condition is true in any process."""
        return self.sum([float(condition)])[0] > 0

    def wait(self) -> None:
        """Wait until all processes have called this."""
        self.sum([0.0])

    def sum_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Sum gradients over all processes in one exchange of a flat tensor; a missing gradient counts as zero."""
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        if self.size == 1:
            return
        flat = torch.cat([parameter.grad.flatten() for parameter in parameters])
        with _detect_ended_processes():
            distributed.all_reduce(flat, group=self._tensor_group)
        pieces = flat.split([parameter.numel() for parameter in parameters])
        for parameter, piece in zip(parameters, pieces, strict=True):
            parameter.grad.copy_(piece.view_as(parameter))

    def broadcast_weights(self, tensors: Sequence[torch.Tensor]) -> None:
        """Copy the first process's tensors into those of all other processes."""
        if self.size > 1:
            with _detect_ended_processes():
                for tensor in tensors:
                    distributed.broadcast(tensor.detach(), src=0, group=self._tensor_group)


@contextmanager
def join_world(device: torch.device | str) -> Iterator[World]:
    """Join the processes that torchrun started, found by its environment variables, or run as a single process.

    On GPUs, a process takes the device with the number `LOCAL_RANK`. Inside the block, an exchange with a process that
    has ended raises `OtherProcessEnded`.
    """
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield World(device=named_device(device))
        return
    device = _process_device(torch.device(device), size)
    # Long waits use gloo, which notices at once when a process ends; NCCL notices only after its timeout.
    distributed.init_process_group("gloo", timeout=_NUMBER_TIMEOUT)
    backend = "nccl" if device.type == "cuda" else "gloo"
    tensor_group = distributed.new_group(backend=backend, timeout=_TENSOR_TIMEOUT)
    try:
        yield World(rank=distributed.get_rank(), size=size, device=device, tensor_group=tensor_group)
    except Interrupted:
        distributed.destroy_process_group()
        raise
    # All processes get here, or to the branch above, together. A process that fails on its own destroys no group: it
    # would wait for exchanges that the others have begun. They notice when it ends.
    distributed.destroy_process_group()


def _process_device(device: torch.device, size: int) -> torch.device:
    """Return the device of this process: a GPU of its own, or the CPU."""
    if device.type != "cuda":
        return named_device(device)
    check_gpu_count(int(os.environ.get("LOCAL_WORLD_SIZE", size)))
    device = named_device(torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))))
    torch.cuda.set_device(device)
    return device


def silent(_: str) -> None:
    """Log nothing; used by all processes but the first."""
