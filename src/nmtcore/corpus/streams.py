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
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

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

    Archives are tar (compressed or not) and zip. The archive must contain the member as a regular file, which may
    itself be compressed; names in an archive never become paths. Raises `UserError` for anything else, including data
    that turns out to be damaged or truncated while it is read.
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
        stream = stack.enter_context(_decompressed(raw))
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
        return io.BufferedReader(bz2.open(stream))
    if start.startswith(FIRST_BYTES[".xz"]):
        return io.BufferedReader(lzma.open(stream))
    if start.startswith(FIRST_BYTES[".zst"]):
        import pyarrow as pa

        return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd"), BLOCK)
    return stream


def _member(file: io.BufferedReader, member: str, stack: ExitStack) -> BinaryIO:
    """Open the first member of this name, which must be a regular file."""
    if _archive(file) == "zip":
        archive = stack.enter_context(zipfile.ZipFile(file))
        for entry in archive.infolist():
            if _same_name(entry.filename, member) and not entry.is_dir() and not entry.flag_bits & 1:
                return archive.open(entry)
    else:
        stream = stack.enter_context(_decompressed(file))
        if _archive(stream) != "tar":
            raise UserError(
                f"{file.name} has a `member` in the data set, but it is neither a tar nor a zip archive: remove the"
                " `member`."
            )
        archive = tarfile.open(fileobj=stream, mode="r|")  # noqa: SIM115  `stack` closes the stream.
        for entry in archive:
            if _same_name(entry.name, member) and entry.isreg():
                return archive.extractfile(entry)
    raise UserError(
        f"{file.name} has no regular file {member} (not a folder, a link or encrypted): check the data set's `member`."
    )


def _same_name(name: str, member: str) -> bool:
    return name.removeprefix("./") == member.removeprefix("./")
