"""Signals that stop training: finish the update, write a checkpoint and end."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from nmtcore.errors import UserError

T = TypeVar("T")

HANDLED = (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT)


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
