"""The processes of a training, their devices and exchanges, and the signals that stop it."""

import datetime
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TypeVar

import torch
from torch import distributed, nn

from nmtcore.errors import UserError
from nmtcore.model.device import named_device

T = TypeVar("T")

HANDLED = (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT, signal.SIGHUP)
"""The signals that stop training: it finishes the update, writes a checkpoint and ends."""

_TIMEOUT = datetime.timedelta(hours=6)
"""The longest wait: for the first process to take the lock, to validate or to write a checkpoint."""


class Interrupted(UserError):
    """A signal stopped training after its checkpoint was written; started again, training resumes from there."""


class _StopWork(Exception):
    """Raised by the signal handler inside interruptible work."""


class Signals:
    """Records the signals that stop training, within `with signals.handled():`.

    Repeated signals have no further effect: Slurm and the process that has started this one may both send one, and the
    checkpoint must still be written.
    """

    def __init__(self) -> None:
        self.received: str | None = None
        """The name of the last signal received."""
        self._interruptible = False

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Handle the signals inside the block, in the main thread; not SIGHUP, of a closed terminal, under `nohup`."""
        ignored = {signal.SIGHUP} if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else set()
        previous = {number: signal.signal(number, self._handle) for number in {*HANDLED} - ignored}
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


@dataclass(frozen=True, kw_only=True)
class World:
    """One of the `size` processes of a training, with its device. With one process, sums return their arguments."""

    device: torch.device
    rank: int = 0
    size: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this is the first process, which alone writes files and messages."""
        return self.rank == 0

    def sum(self, numbers: Sequence[float]) -> list[float]:
        """Sum numbers (float64), entry by entry, over all processes: on the CPU, so that none waits for a GPU."""
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
            distributed.all_reduce(flat)
        pieces = flat.split([parameter.numel() for parameter in parameters])
        for parameter, piece in zip(parameters, pieces, strict=True):
            parameter.grad.copy_(piece.view_as(parameter))


@contextmanager
def join_world(device: torch.device | str) -> Iterator[World]:
    """Join the processes of a training, found by torch's environment variables, or run as a single process.

    On GPUs, a process takes the device with the number `LOCAL_RANK`. Inside the block, an exchange with a process that
    has ended raises `OtherProcessEnded`.
    """
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield World(device=named_device(device))
        return
    is_cuda = torch.device(device).type == "cuda"
    device = named_device(f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if is_cuda else device)
    if is_cuda:
        torch.cuda.set_device(device)
    # Numbers, and so all long waits, use gloo, which notices at once when a process ends; NCCL does after its timeout.
    distributed.init_process_group("cpu:gloo,cuda:nccl" if is_cuda else "gloo", timeout=_TIMEOUT)
    try:
        yield World(rank=distributed.get_rank(), size=size, device=device)
    except Interrupted:
        distributed.destroy_process_group()
        raise
    # All processes get here, or to the branch above, together. A process that fails on its own destroys no group: it
    # would wait for exchanges that the others have begun. They notice when it ends.
    distributed.destroy_process_group()


def silent(_: str) -> None:
    """Log nothing; used by all processes but the first."""
