"""A lock file with a heartbeat, so that only one process at a time writes into a folder.

On Slurm, a job may still be running when its retry starts. The retry waits until the holder of the lock releases it,
has died on this host, or has shown no heartbeat for a while. Only the waiter's clock measures that while, so that
clocks need not agree.
"""

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nmtcore.errors import UserError, explain_os_errors
from nmtcore.files import partial_of

BEAT = 5.0
"""Seconds between heartbeats."""
STALE = 60.0
"""Seconds without a heartbeat after which the holder of a lock counts as dead."""
PATIENCE = 3600.0
"""Seconds that a process waits for the lock."""
_removing = threading.Lock()
"""Held while a thread removes a dead holder's lock, since the threads of a process share one temporary name."""


class Lock:
    """A lock that this process holds; call `check_held()` before each write that only one trainer may do."""

    def __init__(self, path: Path, token: str) -> None:
        self.path = path
        self._token = token
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def check_held(self) -> None:
        """Raise `UserError` if another trainer took the lock while this one was suspended (over `STALE` s)."""
        if _read_holder(self.path).get("token") not in (self._token, None):
            raise UserError(
                f"Another trainer took {self.path} while this one was suspended: this one ends and writes nothing."
            )

    def _start(self, beat: float) -> None:
        self._thread = threading.Thread(target=self._write_heartbeats, args=(beat,), name="heartbeat", daemon=True)
        self._thread.start()

    def _write_heartbeats(self, beat: float) -> None:
        count = 0
        while not self._stop.wait(beat):
            count += 1
            if _read_holder(self.path).get("token") == self._token:
                _write_holder(self.path, self._token, count, os.O_WRONLY)

    def _release(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        if _read_holder(self.path).get("token") == self._token:
            self.path.unlink(missing_ok=True)


@contextmanager
def locked(
    path: Path,
    *,
    log: Callable[[str], None] = print,
    beat: float = BEAT,
    stale: float = STALE,
    patience: float = PATIENCE,
    task: str = "trainer",
) -> Iterator[Lock]:
    """Hold the lock at `path` inside the block; wait first, with a message to `log`, if another process holds it.

    Messages call the processes that take this lock by their `task`.
    Raises `UserError` if that process still shows a heartbeat after `patience` seconds.
    """
    lock = Lock(path, uuid.uuid4().hex)
    path.parent.mkdir(parents=True, exist_ok=True)
    _acquire(lock, log, stale, patience, pause=min(1.0, beat), task=task)
    lock._start(beat)
    try:
        yield lock
    finally:
        lock._release()


def _acquire(lock: Lock, log: Callable[[str], None], stale: float, patience: float, pause: float, task: str) -> None:
    aside = partial_of(lock.path)  # deletes what processes left that were killed while they removed a lock
    began = time.monotonic()
    last_holder, unchanged_since, announced = None, began, False
    while not _write_holder(lock.path, lock._token, 0, os.O_WRONLY | os.O_CREAT | os.O_EXCL):
        holder, now = _read_holder(lock.path), time.monotonic()
        if holder != last_holder:
            last_holder, unchanged_since = holder, now
        if now - unchanged_since > stale or _has_died(holder):
            log(f"The {task} that held {lock.path} ({_describe(holder)}) is gone: taking over.")
            _remove_lock(lock.path, aside, holder)
            continue
        if now - began > patience:
            raise UserError(
                f"{lock.path} is still held by {_describe(holder)} after {patience:.0f} seconds: "
                "wait for that process to end, or stop it, and start again."
            )
        if not announced:
            log(f"Another {task} is running in {lock.path.parent} ({_describe(holder)}): waiting until it ends.")
            announced = True
        time.sleep(pause)


def _write_holder(path: Path, token: str, count: int, flags: int) -> bool:
    """Write this process into the lock file, always with the same length.

    Return False if the file exists but `flags` require a new one, or is missing but `flags` require an existing one.
    """
    pid = os.getpid()
    holder = {"host": _host(), "pid": pid, "started": _started(pid), "token": token, "beat": f"{count:010d}"}
    with explain_os_errors(path):
        try:
            file = os.open(path, flags, 0o644)
        except (FileExistsError, FileNotFoundError):
            return False
        try:
            with os.fdopen(file, "wb") as opened:  # unlike os.write, it writes all or says why not
                opened.write(json.dumps(holder).encode())
                opened.flush()
                os.fsync(file)
        except OSError:
            if flags & os.O_EXCL:  # a new lock, for which the disk has no space
                path.unlink(missing_ok=True)
            raise
    return True


def _read_holder(path: Path) -> dict:
    """Read the process that holds the lock; {} if the file is missing or incomplete."""
    try:
        holder = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return holder if isinstance(holder, dict) else {}


def _remove_lock(path: Path, aside: Path, holder: dict) -> None:
    """Remove the lock of a dead holder, by way of `aside`; put it back if another waiter has taken it meanwhile."""
    with _removing, suppress(FileNotFoundError):  # another waiter may have removed it, also from `aside`
        if _read_holder(path).get("token") != holder.get("token"):
            return
        os.rename(path, aside)
        if _read_holder(aside).get("token") != holder.get("token"):
            with suppress(FileExistsError):
                os.link(aside, path)
        aside.unlink()


def _host() -> str:
    """Name this machine and its PID namespace, since containers may share a host name."""
    try:
        namespace = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        namespace = 0
    return f"{socket.gethostname()}/{namespace}"


def _started(pid: int) -> str | None:
    """Return when a process started, in kernel ticks, to detect a reused PID; None if the process has ended."""
    try:
        state, *rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state in "ZX" else rest[18]


def _has_died(holder: dict) -> bool:
    return holder.get("host") == _host() and _started(holder["pid"]) != holder.get("started")


def _describe(holder: dict) -> str:
    if not holder:
        return "an unknown process"
    return f"process {holder['pid']} on {holder['host'].split('/')[0]}"
