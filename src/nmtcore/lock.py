"""A lock on a folder, so that only one process at a time writes into it.

On Slurm, a job may still be running when its retry starts; the retry waits until the first one has ended. The system
frees the lock of a process that ends in whatever way, on this host or, with NFS 4 or Lustre, on another one.
"""

import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nmtcore.errors import UserError, explain_os_errors

PATIENCE = 3600.0
"""Seconds that a process waits for the lock."""
PAUSE = 0.2
"""Seconds between two attempts to take it."""


@contextmanager
def locked(
    path: Path, *, log: Callable[[str], None] = print, patience: float = PATIENCE, task: str = "trainer"
) -> Iterator[None]:
    """Hold the lock `path` inside the block; wait first, with a message to `log`, if another process has it.

    Messages call the processes that take this lock by their `task`. Raises `UserError` if the other process still has
    it after `patience` seconds.
    """
    with explain_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if not _is_taken(file, path):
            holder = os.pread(file, 1000, 0).decode(errors="replace").strip() or "an unknown process"
            log(f"Waiting for {holder}, another {task} in {path.parent}, to end.")
            began = time.monotonic()
            while not _is_taken(file, path):
                if time.monotonic() - began > patience:
                    raise UserError(
                        f"{path} is still held by {holder} after {patience:.0f} seconds: wait for that process to end, "
                        "or stop it, and start again."
                    )
                time.sleep(PAUSE)
        with explain_os_errors(path):
            os.ftruncate(file, 0)
            os.pwrite(file, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        yield
    finally:
        os.close(file)


def _is_taken(file: int, path: Path) -> bool:
    """Try to take the lock; return whether this process has it now."""
    with explain_os_errors(path):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
