"""SIGTERM, SIGUSR1 and SIGINT: finish the update, write a checkpoint, leave at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from nmtcore.errors import UserError

T = TypeVar("T")

CAUGHT = (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT)


class Interrupted(UserError):
    """Training was asked to stop and its checkpoint is written: start it again and it goes on."""


class _Now(Exception):
    """Raised out of work that a signal may break off."""


class Signals:
    """Remembers the name of the last signal that asked to stop; `with signals.catching():` around training.

    Repeated signals change nothing: Slurm and torchrun may each send the same one, and the checkpoint must be written.
    """

    def __init__(self) -> None:
        self.name: str | None = None
        self._breakable = False

    @contextmanager
    def catching(self) -> Iterator[None]:
        """Catch the signals within; outside the main thread, where Python cannot, leave them alone."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._handle) for number in CAUGHT}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def unless_stopped(self, work: Callable[[], T]) -> T | None:
        """Do long work that changes nothing (a validation); None if a signal came before its end."""
        try:
            self._breakable = True
            result = work() if self.name is None else None
            self._breakable = False
            return result
        except _Now:
            return None
        finally:
            self._breakable = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.name = signal.Signals(number).name
        if self._breakable:
            self._breakable = False
            raise _Now
