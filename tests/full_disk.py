"""Too little space for files: a limit on their size, or a small disk in memory where the system lets us mount one."""

import ctypes
import functools
import os
import resource
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_NEW_MOUNTS, _NEW_USERS = 0x00020000, 0x10000000
_PRIVATE = 16384 | 262144


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let this process write no file beyond `size` bytes (Python ignores the signal SIGXFSZ, so writing fails)."""
    allowed, compiles = resource.getrlimit(resource.RLIMIT_FSIZE), not sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # Python would keep cut files of what it compiles
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, allowed[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
        sys.dont_write_bytecode = not compiles


@functools.cache
def can_mount() -> bool:
    """Return whether this process may mount a small disk, alone or as the root of a namespace of its own."""
    folder = Path(tempfile.mkdtemp(prefix="mount-"))
    try:
        return on_small_disk(folder, lambda: None) is None
    except OSError:
        return False
    finally:
        shutil.rmtree(folder)


def on_small_disk(folder: Path, function: Callable[[], None]) -> str | None:
    """Mount a disk of 32 MB on an existing folder, and call a function in a process that alone sees it.

    Returns the stack trace if the function raised an error, or how its process ended; None if all is well. Raises
    `OSError` if the system does not let us mount a disk.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        message = b"!"
        try:
            _mount(folder)
            message = b""
            function()
        except BaseException:
            message += traceback.format_exc().encode()
        finally:
            with open(writer, "wb") as file:
                file.write(message)
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as file:
        message = file.read().decode()
    if status := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        return f"the process ended with status {status}"
    if message.startswith("!"):
        raise OSError(message[1:])
    return message or None


@contextmanager
def filled(folder: Path, free: int) -> Iterator[None]:
    """Leave so many bytes free on the disk that holds a folder."""
    disk = os.statvfs(folder)
    (folder / "full").write_bytes(bytes(max(0, disk.f_bavail * disk.f_bsize - free)))
    yield
    (folder / "full").unlink()


def _mount(folder: Path) -> None:
    """Mount a disk of memory in a namespace of this process."""
    user, group = os.getuid(), os.getgid()
    _call("unshare", _NEW_MOUNTS | (_NEW_USERS if user else 0))
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _call("mount", b"none", b"/", None, _PRIVATE, None)
    _call("mount", b"tmpfs", os.fsencode(folder), b"tmpfs", 0, b"size=32m")


def _call(name: str, *arguments: bytes | int | None) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
