"""Open a corpus file as a stream of bytes, whatever it is wrapped in; nothing is ever unpacked onto the disk.

Compression is found by a file's first bytes, never by its name.
"""

import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from nmtcore.errors import UserError, explained

MAGIC = {b"\x1f\x8b": "gz", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst", b"BZh": "bz2", b"PK\x03\x04": "zip"}
MOST_BYTES = 1 << 40
"""A member that claims to be larger is refused."""
_TAR_MAGIC = slice(257, 262)
BROKEN = (EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile)
"""What the decompressors raise, beside `OSError`, on data that is cut off or damaged."""


@contextmanager
def open_stream(path: str | Path, member: str | None = None) -> Iterator[io.BufferedReader]:
    """Yield the plain bytes of `path`, or of its archive member `member`.

    Archives are tar (compressed or not) and zip; the member must be there exactly once, as a regular file, and may
    itself be compressed. Raises `UserError` for anything else, also for data that turns out to be damaged or cut off
    while the block reads it.
    """
    path = Path(path)
    with readable(path), ExitStack() as stack:
        if member is None:
            stream = _plain(stack.enter_context(path.open("rb")), stack)
            if stream.peek(512)[_TAR_MAGIC] == b"ustar":
                raise UserError(f"{path} is a tar archive: say which `member` of it is meant.")
        else:
            stream = _plain(_member(path, member, stack), stack)
        yield stream


@contextmanager
def readable(path: str | Path) -> Iterator[None]:
    """Turn what decompressors and the system raise about `path` into a sentence."""
    with explained(path):
        try:
            yield
        except BROKEN as error:
            raise UserError(_broken(path, error)) from error
        except OSError as error:
            if error.errno is None:  # raised by a decompressor, not by the system
                raise UserError(_broken(path, error)) from error
            raise


def _broken(path: str | Path, error: Exception) -> str:
    return f"{path} is cut off or damaged ({error}): delete it and fetch it again."


def _kind(stream: io.BufferedReader) -> str | None:
    head = stream.peek(8)
    return next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), None)


def _plain(raw: BinaryIO, stack: ExitStack) -> io.BufferedReader:
    """Take the compression off, if there is one."""
    stream = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)
    kind = _kind(stream)
    if kind is None:
        return stream
    if kind == "zip":
        raise UserError(f"{getattr(raw, 'name', 'the file')} is a zip archive: say which `member` of it is meant.")
    opened = stack.enter_context(_decompressed(stream, kind))
    return stack.enter_context(io.BufferedReader(opened, 1 << 18))


def _decompressed(stream: io.BufferedReader, kind: str) -> BinaryIO:
    if kind == "gz":
        import gzip

        return gzip.open(stream)
    if kind == "bz2":
        import bz2

        return bz2.open(stream)
    if kind == "xz":
        return lzma.open(stream)
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd")


def _member(path: Path, member: str, stack: ExitStack) -> BinaryIO:
    file = stack.enter_context(path.open("rb"))
    if _kind(file) == "zip":
        archive = stack.enter_context(zipfile.ZipFile(file))
        infos = [info for info in archive.infolist() if _same(info.filename, member)]
        _check_found(path, member, [(info.filename, not info.is_dir(), info.file_size) for info in infos])
        return stack.enter_context(archive.open(infos[0]))
    with ExitStack() as first_pass:
        entries = _tar(path, first_pass)
        found = [(entry.name, entry.isreg(), entry.size) for entry in entries if _same(entry.name, member)]
    _check_found(path, member, found)
    archive = _tar(path, stack)
    entry = next(entry for entry in archive if _same(entry.name, member))
    return stack.enter_context(archive.extractfile(entry))


def _tar(path: Path, stack: ExitStack) -> tarfile.TarFile:
    stream = _plain(stack.enter_context(path.open("rb")), stack)
    if stream.peek(512)[_TAR_MAGIC] != b"ustar":
        raise UserError(f"{path} is neither a tar nor a zip archive, but a `member` of it is asked for.")
    return stack.enter_context(tarfile.open(fileobj=stream, mode="r|"))


def _same(name: str, member: str) -> bool:
    return name.removeprefix("./") == member.removeprefix("./")


def _check_found(path: str | Path, member: str, found: list[tuple[str, bool, int]]) -> None:
    if len(found) != 1:
        raise UserError(f"{path} holds {len(found)} members called {member}, not one: check the data set's `member`.")
    _, regular, size = found[0]
    if not regular:
        raise UserError(f"{path}: the member {member} is not a regular file.")
    if size > MOST_BYTES:
        raise UserError(f"{path}: the member {member} claims to hold {size} bytes; that cannot be right.")
