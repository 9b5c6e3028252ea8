"""A download in progress: a hidden file next to its target, hashed as it grows, from which a later run can resume.

Imports nothing heavy, because planning looks for such files.
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
"""Bytes read at a time."""
HTML = (b"<!doctype html", b"<html")
"""The first bytes of an HTML page that a server sends instead of a file."""


class SourceFailed(Exception):
    """A source could not provide the file; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The remote file to which the bytes of a partial file belong; it must be unchanged if the download is resumed."""

    url: str
    validator: str | None
    """A strong ETag or a modification date; None if the server sends neither."""
    length: int | None
    """Bytes of the whole file according to the server."""


def partial_path(target: Path) -> Path:
    """Return the path of the bytes of an unfinished download."""
    return target.with_name(f".{target.name}.part")


class PartialDownload:
    """The bytes received so far, their checksums, and their origin."""

    def __init__(self, path: Path, file: BinaryIO, show_length: Callable[[int], Any]) -> None:
        self.path = path
        self._file = file
        self._show_length = show_length
        self._record = path.with_name(path.name + ".json")
        self.origin = _read_origin(self._record)
        self.restart() if self.origin is None else self._hash_existing()

    @property
    def sums(self) -> dict[str, str]:
        """The sha256 and md5 checksums of the bytes so far, in hexadecimal."""
        return {"sha256": self._sha256.hexdigest(), "md5": self._md5.hexdigest()}

    def restart(self, origin: Origin | None = None) -> None:
        """Discard all bytes. The next bytes come from `origin`, or from a source that cannot be resumed (None)."""
        self._file.truncate(0)
        self._file.seek(0)
        self._reset_sums()
        self.origin = origin
        self._record.unlink(missing_ok=True)
        if origin is not None:
            write_json(self._record, asdict(origin))

    def write(self, chunk: bytes) -> None:
        """Append bytes."""
        self._file.write(chunk)
        self._update_sums(chunk)

    def discard(self) -> None:
        """Delete the file and the record of its origin."""
        self._record.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)

    def is_html_page(self) -> bool:
        """Return whether the bytes are an HTML page, such as an error or login page."""
        self._file.seek(0)
        head = self._file.read(512).lower().lstrip(b"\xef\xbb\xbf \t\r\n")
        return head.startswith(HTML) or (head.startswith(b"<?xml") and HTML[0] in head)

    def move_to(self, target: Path) -> None:
        """Move the finished file to `target`."""
        self._file.flush()
        with atomic_path(target) as temporary:
            os.replace(self.path, temporary)
        self._record.unlink(missing_ok=True)

    def _hash_existing(self) -> None:
        self._reset_sums()
        self._file.seek(0)
        while chunk := self._file.read(CHUNK):
            self._update_sums(chunk)

    def _reset_sums(self) -> None:
        self.length, self._sha256, self._md5 = 0, hashlib.sha256(), hashlib.md5(usedforsecurity=False)
        self._show_length(self.length)

    def _update_sums(self, chunk: bytes) -> None:
        self.length += len(chunk)
        self._sha256.update(chunk)
        self._md5.update(chunk)
        self._show_length(self.length)


def _read_origin(record: Path) -> Origin | None:
    """Read the record of a partial file; None if there is none or it is damaged, and so the download starts again."""
    try:
        values = read_json(record) if record.exists() else None
    except UserError:
        return None
    types = {"url": str, "validator": str | None, "length": int | None}
    if not isinstance(values, dict) or values.keys() != types.keys():
        return None
    return Origin(**values) if all(isinstance(values[key], type_) for key, type_ in types.items()) else None


@contextmanager
def open_partial(target: Path, show_length: Callable[[int], Any] = lambda length: None) -> Iterator[PartialDownload]:
    """Open the unfinished download of `target`, possibly from an earlier run, and lock it for this process.

    `show_length` is called with the number of bytes received whenever it changes. Raises `UserError` if another process
    holds the lock.
    """
    path = partial_path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UserError(f"{target} is being downloaded by another process: wait for it.") from error
        yield PartialDownload(path, file, show_length)
