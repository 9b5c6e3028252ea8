"""One trainer at a time: a lock file with a heartbeat.

On Slurm a first attempt may linger beside its own retry. The second waits until the first lets go, has died on this
host, or has not shown a heartbeat for a while (seen by the waiter's own clock, so that clocks need not agree).
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

from nmtcore.errors import UserError, explained

BEAT = 5.0
"""Seconds between heartbeats."""
STALE = 60.0
"""A lock whose heartbeat has not changed for so many seconds belongs to nobody."""
PATIENCE = 3600.0
"""Seconds that a second trainer waits for the first."""


class Lock:
    """A held lock; `check()` before writing what only one trainer may write."""

    def __init__(self, path: Path, token: str) -> None:
        self.path = path
        self._token = token
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def check(self) -> None:
        """Raise `UserError` if another trainer took the lock (this one was frozen for longer than `STALE`)."""
        if _read(self.path).get("token") not in (self._token, None):
            raise UserError(
                f"Another trainer has taken {self.path} while this one stood still; this one ends and changes nothing."
            )

    def _start(self, beat: float) -> None:
        self._thread = threading.Thread(target=self._beats, args=(beat,), name="heartbeat", daemon=True)
        self._thread.start()

    def _beats(self, beat: float) -> None:
        count = 0
        while not self._stop.wait(beat):
            count += 1
            if _read(self.path).get("token") == self._token:
                _write(self.path, self._token, count, os.O_WRONLY)

    def _release(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        if _read(self.path).get("token") == self._token:
            self.path.unlink(missing_ok=True)


@contextmanager
def locked(
    path: Path,
    *,
    log: Callable[[str], None] = print,
    beat: float = BEAT,
    stale: float = STALE,
    patience: float = PATIENCE,
) -> Iterator[Lock]:
    """Hold the lock at `path`; wait for another holder first, and say so.

    Raises `UserError` when the other still shows a heartbeat after `patience` seconds.
    """
    lock = Lock(path, uuid.uuid4().hex)
    path.parent.mkdir(parents=True, exist_ok=True)
    _acquire(lock, log, stale, patience, pause=min(1.0, beat))
    lock._start(beat)
    try:
        yield lock
    finally:
        lock._release()


def _acquire(lock: Lock, log: Callable[[str], None], stale: float, patience: float, pause: float) -> None:
    began = time.monotonic()
    seen, since, said = None, began, False
    while not _write(lock.path, lock._token, 0, os.O_WRONLY | os.O_CREAT | os.O_EXCL):
        holder, now = _read(lock.path), time.monotonic()
        if holder != seen:
            seen, since = holder, now
        if now - since > stale or _gone(holder):
            log(f"The trainer that held {lock.path} ({_who(holder)}) is gone: taking over.")
            _remove(lock.path, holder)
            continue
        if now - began > patience:
            raise UserError(
                f"{lock.path} is still held by {_who(holder)} after {patience:.0f} seconds: "
                "wait for that training to end, or stop it, and start again."
            )
        if not said:
            log(f"Another trainer works in {lock.path.parent} ({_who(holder)}): waiting until it ends.")
            said = True
        time.sleep(pause)


def _write(path: Path, token: str, count: int, flags: int) -> bool:
    """Write who holds the lock, always as many bytes; False where the file exists (or is gone) against `flags`."""
    pid = os.getpid()
    holder = {"host": _host(), "pid": pid, "started": _started(pid), "token": token, "beat": f"{count:010d}"}
    with explained(path):
        try:
            file = os.open(path, flags, 0o644)
        except (FileExistsError, FileNotFoundError):
            return False
        try:
            os.pwrite(file, json.dumps(holder).encode(), 0)
            os.fsync(file)
        finally:
            os.close(file)
    return True


def _read(path: Path) -> dict:
    """Read who holds the lock; {} where the file is missing or half written."""
    try:
        holder = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return holder if isinstance(holder, dict) else {}


def _remove(path: Path, holder: dict) -> None:
    """Take a dead holder's lock away, but nobody else's: another waiter may have been faster."""
    aside = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        os.rename(path, aside)
    except FileNotFoundError:
        return
    if _read(aside).get("token") != holder.get("token"):
        with suppress(FileExistsError):
            os.link(aside, path)
    aside.unlink()


def _host() -> str:
    """Name this machine and its space of process numbers: containers may share a host's name."""
    try:
        space = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        space = 0
    return f"{socket.gethostname()}/{space}"


def _started(pid: int) -> str | None:
    """Give when a process started, in the kernel's ticks, so that a reused number is noticed; None if it is gone."""
    try:
        state, *rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state in "ZX" else rest[18]


def _gone(holder: dict) -> bool:
    return holder.get("host") == _host() and _started(holder["pid"]) != holder.get("started")


def _who(holder: dict) -> str:
    if not holder:
        return "an unknown process"
    return f"process {holder['pid']} on {holder['host'].split('/')[0]}"
