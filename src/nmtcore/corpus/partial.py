"""A download that is under way: a hidden file beside its target that grows, is hashed as it grows, and can go on later.

Imports nothing heavy: planning looks for such files.
"""

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from nmtcore.errors import UserError
from nmtcore.files import atomic_path, read_json, write_json

CHUNK = 1 << 20
HTML = (b"<!doctype html", b"<html")
"""How a page starts that a server sends in place of a file."""


class PlaceFailed(Exception):
    """One place could not give the file; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where the bytes of a partial file come from: what must still hold when more of them are asked for."""

    url: str
    validator: str | None
    """A strong ETag or a date of change; None where the server tells neither."""
    length: int | None
    """Bytes of the whole file, as the server told."""


def partial_path(target: Path) -> Path:
    """Say where the bytes of an unfinished download lie."""
    return target.with_name(f".{target.name}.part")


class Partial:
    """The bytes that came so far, their sums, and their origin."""

    def __init__(self, path: Path, file: BinaryIO, advance: Callable[[int], Any]) -> None:
        self.path = path
        self._file = file
        self._advance = advance
        self._record = path.with_name(path.name + ".json")
        self.origin = Origin(**read_json(self._record)) if self._record.exists() else None
        self.restart() if self.origin is None else self._hash_again()

    @property
    def sums(self) -> dict[str, str]:
        """The sha256 and md5 of the bytes so far, in hexadecimal."""
        return {"sha256": self._sha256.hexdigest(), "md5": self._md5.hexdigest()}

    def restart(self, origin: Origin | None = None) -> None:
        """Forget all bytes; those that follow come from `origin`, or from a place where nothing is resumed."""
        self._file.truncate(0)
        self._file.seek(0)
        self._count(None)
        self.origin = origin
        self._record.unlink(missing_ok=True)
        if origin is not None:
            write_json(self._record, asdict(origin))

    def write(self, chunk: bytes) -> None:
        """Append bytes."""
        self._file.write(chunk)
        self._count(chunk)

    def discard(self) -> None:
        """Delete the file: what it holds is of no use."""
        self._record.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)

    def holds_a_page(self) -> bool:
        """Tell whether these are the bytes of an HTML page: of an error or a login."""
        self._file.seek(0)
        head = self._file.read(512).lower().lstrip(b"\xef\xbb\xbf \t\r\n")
        return head.startswith(HTML) or (head.startswith(b"<?xml") and HTML[0] in head)

    def move_to(self, target: Path) -> None:
        """Put the finished file into its place."""
        self._file.flush()
        with atomic_path(target) as temporary:
            os.replace(self.path, temporary)
        self._record.unlink(missing_ok=True)

    def _hash_again(self) -> None:
        self._count(None)
        self._file.seek(0)
        while chunk := self._file.read(CHUNK):
            self._count(chunk)

    def _count(self, chunk: bytes | None) -> None:
        if chunk is None:
            self.length, self._sha256, self._md5 = 0, hashlib.sha256(), hashlib.md5(usedforsecurity=False)
        else:
            self.length += len(chunk)
            self._sha256.update(chunk)
            self._md5.update(chunk)
        self._advance(self.length)


@contextmanager
def open_partial(target: Path, show: Callable[[int], Any] = lambda length: None) -> Iterator[Partial]:
    """Open the unfinished download of `target`, perhaps one of an earlier run, for this process alone.

    `show` is called with the number of bytes that are there whenever it changes.
    """
    path = partial_path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UserError(f"{target} is being downloaded by another process: wait for it.") from error
        yield Partial(path, file, show)
