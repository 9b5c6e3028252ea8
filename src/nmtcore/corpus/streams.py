"""Open a compressed or archived file as a stream of bytes, without unpacking anything onto the disk.

Compression is recognised by a file's first bytes, never by its name.
"""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from nmtcore.errors import UserError, explain_os_errors

BLOCK = 1 << 16
"""Bytes read from a compressed file at a time."""
FIRST_BYTES = {
    ".gz": b"\x1f\x8b",
    ".tgz": b"\x1f\x8b",
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ\x00",
    ".zst": b"\x28\xb5\x2f\xfd",
    ".zip": b"PK",
}
"""What files with these endings begin with."""
_LFS = b"version https://git-lfs"
_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile)
"""Exceptions, besides `OSError`, that reading truncated or damaged data raises."""
_DAMAGED_DIRECTORY = (ValueError, RuntimeError, struct.error, OverflowError)
"""Further exceptions that opening a damaged or encrypted archive raises."""


@contextmanager
def open_stream(path: str | Path, member: str | None = None) -> Iterator[io.BufferedReader]:
    """Yield the decompressed bytes of `path`, or of its archive member `member`.

    A file may be compressed twice, as by a server that compresses what it sends. Archives are tar (compressed or not)
    and zip. The archive must contain the member exactly once, as a regular file,
    which may itself be compressed; names in an archive never become paths. Raises `UserError` for anything else,
    including data that turns out to be damaged or truncated while it is read.
    """
    path = Path(path)
    name = str(path) if member is None else f"{path}, member {member},"
    with _readable(path), ExitStack() as stack:
        raw = stack.enter_context(path.open("rb"))
        if member is not None:
            try:
                raw = stack.enter_context(_member(raw, member, stack))
            except _DAMAGED_DIRECTORY as error:
                raise UserError(_damaged(path, error)) from error
        stream = stack.enter_context(_decompressed(stack.enter_context(_decompressed(raw))))
        if archive := _archive(stream):
            advice = "name the `member` to read" if member is None else "extract it from the outer archive by hand"
            raise UserError(f"{name} is a {archive} archive: {advice}.")
        if stream.peek(len(_LFS)).startswith(_LFS):
            raise UserError(f"{name} is a pointer of Git LFS, not the file itself: fetch the file (git lfs pull).")
        yield stream


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn exceptions about damaged data, and the system's about `path`, into a `UserError`."""
    with explain_os_errors(path):
        try:
            yield
        except _DAMAGE as error:
            raise UserError(_damaged(path, error)) from error
        except OSError as error:
            if error.errno is None:  # raised by a decompressor, not by the system
                raise UserError(_damaged(path, error)) from error
            raise


def _damaged(path: Path, error: Exception) -> str:
    return f"{path} is cut off or damaged ({error}): delete it and fetch it again, or replace it by an intact copy."


def _archive(stream: io.BufferedReader) -> str | None:
    start = stream.peek(512)
    if start.startswith(b"PK\x03\x04"):
        return "zip"
    return "tar" if start[257:262] == b"ustar" else None


def _decompressed(stream: BinaryIO) -> io.BufferedReader:
    start = stream.peek(6)
    if start.startswith(FIRST_BYTES[".gz"]):
        return gzip.open(stream)
    if start.startswith(FIRST_BYTES[".bz2"]):
        return io.BufferedReader(_CompressedStreams(stream, bz2.BZ2Decompressor), BLOCK)
    if start.startswith(FIRST_BYTES[".xz"]):
        return io.BufferedReader(_CompressedStreams(stream, lzma.LZMADecompressor), BLOCK)
    if start.startswith(FIRST_BYTES[".zst"]):
        import pyarrow as pa

        return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd"), BLOCK)
    return stream


class _CompressedStreams(io.RawIOBase):
    """The content of consecutive bz2 or xz streams, between which null bytes are allowed.

    Python's own readers end silently where something else follows an intact stream; here, that is an error.
    """

    def __init__(self, file: BinaryIO, new_decompressor: Callable[[], Any]) -> None:
        self._file = file
        self._new_decompressor = new_decompressor
        self._decompressor = new_decompressor()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        """Fill a part of `buffer` and return its length; 0 at the end."""
        data = b""
        while not data:
            block = b""
            if self._decompressor.eof:
                block = self._decompressor.unused_data
                while not (block := block.lstrip(b"\0")):
                    if not (block := self._file.read1(BLOCK)):
                        return 0
                self._decompressor = self._new_decompressor()
            elif self._decompressor.needs_input and not (block := self._file.read1(BLOCK)):
                raise EOFError("a compressed stream ends too early")
            data = self._decompressor.decompress(block, len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _member(file: io.BufferedReader, member: str, stack: ExitStack) -> BinaryIO:
    if _archive(file) == "zip":
        archive = stack.enter_context(zipfile.ZipFile(file))
        entries = [entry for entry in archive.infolist() if _same_name(entry.filename, member)]
        _check_single(file.name, member, [not (entry.is_dir() or entry.flag_bits & 1) for entry in entries])
        return archive.open(entries[0])
    # A stream cannot go back, so the archive is read twice: to see that the member occurs once, and to read it.
    entries = [entry for entry in _tar(file, stack) if _same_name(entry.name, member)]
    _check_single(file.name, member, [entry.isreg() for entry in entries])
    file.seek(0)
    archive = _tar(file, stack)
    return archive.extractfile(next(entry for entry in archive if _same_name(entry.name, member)))


def _tar(file: io.BufferedReader, stack: ExitStack) -> tarfile.TarFile:
    stream = stack.enter_context(_decompressed(file))
    if _archive(stream) != "tar":
        raise UserError(
            f"{file.name} has a `member` in the data set, but it is neither a tar nor a zip archive: remove the"
            " `member`."
        )
    return stack.enter_context(tarfile.open(fileobj=stream, mode="r|"))


def _same_name(name: str, member: str) -> bool:
    return name.removeprefix("./") == member.removeprefix("./")


def _check_single(path: str, member: str, matches: list[bool]) -> None:
    """Raise `UserError` unless there is one match, given by whether it is a regular file, and it is one."""
    if len(matches) != 1:
        raise UserError(f"{path} has {len(matches)} members called {member}, not one: check the data set's `member`.")
    if not matches[0]:
        raise UserError(
            f"{path}: the member {member} is a folder, a link or encrypted, not a regular file: check the data set's"
            " `member`."
        )
