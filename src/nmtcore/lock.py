"""A lock on a folder, so that only one process at a time writes into it.

On Slurm, a job may still be running when its retry starts; the retry waits until the first one has ended. The system
frees the lock of a process that ends in whatever way, on this host or, with NFS 4 or Lustre, on another one.

Snakemake's own locks are of a working folder, say nothing about who made them, and stay when a process is killed.
"""

import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nmtcore.errors import UserError, explain_os_errors

PATIENCE = 3600.0
"""Seconds that a process waits for the lock."""
PAUSE = 0.2
"""Seconds between two attempts to take it."""


@contextmanager
def locked(path: Path, *, log: Callable[[str], None] = print, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock `path` of a training inside the block; wait first, with a message to `log`, if another has it.

    Raises `UserError` if the other process still has it after `patience` seconds.
    """
    file = _opened(path)
    try:
        if not _is_taken(file, path):
            holder = _holder(file)
            log(f"Waiting for {holder}, another trainer in {path.parent}, to end.")
            began = time.monotonic()
            while not _is_taken(file, path):
                if time.monotonic() - began > patience:
                    raise UserError(
                        f"{path} is still held by {holder} after {patience:.0f} seconds: wait for that process to end, "
                        "or stop it, and start again."
                    )
                time.sleep(PAUSE)
        _sign(file, path)
        yield
    finally:
        os.close(file)


def keep_results(results: Path, path: Path) -> None:
    """Hold the lock `path` until this process ends, for its working folder.

    Raises `UserError` if a process in another working folder has it; in one folder, Snakemake's locks keep processes
    apart.
    """
    file, folder = _opened(path), f" in {Path.cwd()}"
    if _is_taken(file, path):
        _sign(file, path, folder)
    elif not (holder := _holder(file)).endswith(folder):
        raise UserError(f"{results} is in use by {holder}: wait until it has ended, or name other results (`paths`).")
    fcntl.flock(file, fcntl.LOCK_SH)


def sign_locks(locks: Iterable[str]) -> None:
    """Hold a lock beside each of Snakemake's locks until this process ends, for `free_locks`."""
    for path in (Path(lock).with_suffix(".owner") for lock in locks):
        file = _opened(path)
        if _is_taken(file, path):
            _sign(file, path)


def free_locks(folder: Path) -> None:
    """Delete those of Snakemake's locks whose process on this host has ended.

    Raises `UserError` if it was on another host, where it may still run if the lock beside is not seen from here.
    """
    for path in folder.glob("*.owner"):
        file = _opened(path)
        if _is_taken(file, path):
            holder, host = _holder(file), socket.gethostname()
            if not holder.endswith(f" on {host}"):
                raise UserError(
                    f"{Path.cwd()} is locked by {holder}. If that Snakemake has ended, as it seems from {host}, run "
                    "`snakemake --unlock` here and repeat the command."
                )
            path.with_suffix(".lock").unlink(missing_ok=True)
            path.unlink()
        os.close(file)


def _opened(path: Path) -> int:
    with explain_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)


def _holder(file: int) -> str:
    return os.pread(file, 10_000, 0).decode(errors="replace").strip() or "an unknown process"


def _sign(file: int, path: Path, place: str = "") -> None:
    with explain_os_errors(path):
        os.ftruncate(file, 0)
        os.pwrite(file, f"process {os.getpid()} on {socket.gethostname()}{place}\n".encode(), 0)


def _is_taken(file: int, path: Path) -> bool:
    """Try to take the lock; return whether this process has it now."""
    with explain_os_errors(path):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
