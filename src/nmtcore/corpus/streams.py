"""Open a corpus file as a stream of bytes, whatever it is wrapped in; nothing is ever unpacked onto the disk.

Compression is found by a file's first bytes, never by its name.
"""

import bz2
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from nmtcore.errors import UserError, explained

MAGIC = {b"\x1f\x8b": "gz", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst", b"BZh": "bz2", b"PK\x03\x04": "zip"}
BLOCK = 1 << 16
"""Bytes that are read from a compressed file at a time."""
MOST_BYTES = 1 << 40
"""A member that claims to be larger is refused."""
FREE_BYTES = 1 << 26
"""So many bytes may come out of however few."""
MOST_RATIO = 1000
"""Beyond `FREE_BYTES`, a compressed byte may give so many. Text gives 2 to 10; deflate cannot give more than 1,032, so
that of gz and zip hardly anything but zeros is refused, while bz2, xz and zst could give a thousand times more."""
BROKEN = (EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile)
"""What the decompressors raise, beside `OSError`, on data that is cut off or damaged."""
_TAR_MAGIC = slice(257, 262)
_TAR_KINDS = {tarfile.SYMTYPE: "a symbolic link", tarfile.LNKTYPE: "a hard link", tarfile.DIRTYPE: "a folder"}
_UNIX_KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a folder"}


@contextmanager
def open_stream(path: str | Path, member: str | None = None) -> Iterator[io.BufferedReader]:
    """Yield the plain bytes of `path`, or of its archive member `member`.

    Archives are tar (compressed or not) and zip; the member must be there exactly once, as a regular file, and may
    itself be compressed. A name in an archive is only compared, never used as a path, and nothing is written: links,
    `..` and absolute names cannot lead anywhere. Raises `UserError` for anything else, also for data that turns out to
    be damaged, cut off, or a decompression bomb while the block reads it.
    """
    path = Path(path)
    with readable(path), ExitStack() as stack:
        stream = _plain(_disk(path, stack) if member is None else _member(path, member, stack), stack)
        kind = "tar" if _is_tar(stream) else _kind(stream)
        if kind in ("tar", "zip"):
            advice = "say which `member` of it is meant" if member is None else "take it out of the outer one by hand"
            raise UserError(f"{stream.raw.name} is a {kind} archive: {advice}.")
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
    return f"{path} is cut off or damaged ({error}): delete it and fetch it again, or put a sound copy in its place."


class _Meter(io.RawIOBase):
    """Counts the bytes read through it, and refuses more than the meters below it can honestly have given.

    One lies under the first decompressor and one on top of each, so that a bomb within a bomb is weighed both against
    what it was unpacked from and against the bytes on the disk.
    """

    closed = False
    """A plain attribute, as `readline` asks for it at every line, and the inherited property takes long."""

    def __init__(self, stream: BinaryIO, name: str, below: "_Meter | None" = None) -> None:
        self.name = name
        self.count = 0
        self.below: tuple[_Meter, ...] = (below, *below.below) if below else ()
        self._stream = stream

    def close(self) -> None:
        super().close()
        self.closed = True

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = 0) -> int:
        if offset < 0 and whence == io.SEEK_SET:
            raise ValueError(f"a list of members points to byte {offset}")
        return self._stream.seek(offset, whence)

    def readinto(self, buffer: memoryview) -> int:
        size = self._stream.readinto(buffer)
        self.count += size
        if self.count > FREE_BYTES and any(self.count > MOST_RATIO * meter.count for meter in self.below):
            raise UserError(
                f"{self.name} unpacks to over {MOST_RATIO:,} times its size, as a decompression bomb does: fetch it"
                " again, from where you trust. If it must be so, unpack it by hand and name the plain file instead."
            )
        return size


def _disk(path: Path, stack: ExitStack) -> _Meter:
    return _Meter(stack.enter_context(path.open("rb", buffering=0)), str(path))


def _kind(stream: io.BufferedReader) -> str | None:
    head = stream.peek(8)
    return next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), None)


def _is_tar(stream: io.BufferedReader) -> bool:
    return stream.peek(512)[_TAR_MAGIC] == b"ustar"


def _plain(raw: _Meter, stack: ExitStack) -> io.BufferedReader:
    """Take the compression off, if there is one; the result's `raw` is a meter again."""
    stream = stack.enter_context(io.BufferedReader(raw, BLOCK))
    kind = _kind(stream)
    if kind in (None, "zip"):
        return stream
    opened = stack.enter_context(_decompressed(stream, kind))
    return stack.enter_context(io.BufferedReader(_Meter(opened, raw.name, raw), 1 << 18))


def _decompressed(stream: io.BufferedReader, kind: str) -> BinaryIO:
    if kind == "gz":
        import gzip

        return gzip.open(stream)
    if kind == "bz2":
        return _Streams(stream, bz2.BZ2Decompressor)
    if kind == "xz":
        return _Streams(stream, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), padding=4)
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd")


class _Streams(io.RawIOBase):
    """Unpacks one compressed stream after the other, to the file's last byte.

    Python's own readers of bz2 and xz take whatever follows the first stream for the end, unless it is a sound one.
    `padding`: between streams and at the end there may be null bytes, a multiple of so many; 0: none. Raises `EOFError`
    or `OSError` where a stream is cut off or damaged, or what follows one is no stream.
    """

    def __init__(self, stream: io.BufferedReader, make: Callable[[], Any], *, padding: int = 0) -> None:
        self._stream = stream
        self._make = make
        self._padding = padding
        self._decompressor = make()
        self._pending = b""
        """What was read and not yet unpacked."""
        self._number, self._start, self._read = 1, 0, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        """Fill some of `buffer`; 0 at the end."""
        while self._decompressor is not None:
            if self._decompressor.eof:
                self._next_stream()
            elif data := self._unpacked(len(buffer)):
                buffer[: len(data)] = data
                return len(data)
        return 0

    def _unpacked(self, most: int) -> bytes:
        needed = self._decompressor.needs_input
        block = self._block() if needed else b""
        if needed and not block:
            raise EOFError(f"{self._place()}, ends too early")
        try:
            return self._decompressor.decompress(block, most)
        except (OSError, lzma.LZMAError) as error:
            raise OSError(f"{self._place()}: {error}") from error

    def _next_stream(self) -> None:
        """Begin with what follows the stream that has ended, if anything does."""
        rest = self._after_padding(self._decompressor.unused_data or self._block())
        self._number, self._start = self._number + 1, self._read - len(rest)
        self._decompressor = self._make() if rest else None
        self._pending = rest

    def _after_padding(self, block: bytes) -> bytes:
        """Read past null bytes; give what stands behind them, of the block in which they end."""
        nulls = 0
        while self._padding and block:
            rest = block.lstrip(b"\0")
            nulls += len(block) - len(rest)
            if rest:
                block = rest
                break
            block = self._block()
        if self._padding and nulls % self._padding:
            raise EOFError(f"the {nulls} null bytes before byte {self._read - len(block)} are no padding")
        return block

    def _block(self) -> bytes:
        if self._pending:
            block, self._pending = self._pending, b""
            return block
        block = self._stream.read1(BLOCK)
        self._read += len(block)
        return block

    def _place(self) -> str:
        return f"compressed stream {self._number}, from byte {self._start} on"


def _member(path: Path, member: str, stack: ExitStack) -> _Meter:
    try:
        with path.open("rb") as file:
            kind = _kind(file)
        return (_zip_member if kind == "zip" else _tar_member)(path, member, stack)
    except (ValueError, NotImplementedError, struct.error, OverflowError) as error:  # odd fields in an archive's lists
        raise UserError(_broken(path, error)) from error


def _zip_member(path: Path, member: str, stack: ExitStack) -> _Meter:
    disk = _disk(path, stack)
    archive = stack.enter_context(zipfile.ZipFile(disk))
    infos = [info for info in archive.infolist() if _same(info.filename, member)]
    _check_found(path, member, [(_odd_in_zip(info), info.file_size) for info in infos])
    opened = stack.enter_context(archive.open(infos[0]))
    disk.count = 0  # the list of members was read through it
    return _Meter(opened, _label(path, member), disk)


def _odd_in_zip(info: zipfile.ZipInfo) -> str | None:
    kind = stat.S_IFMT(info.external_attr >> 16)  # 0 where it was not packed on Unix
    if info.is_dir() or kind not in (0, stat.S_IFREG):
        return _UNIX_KINDS.get(kind, "a folder" if info.is_dir() else "a device")
    if info.flag_bits & 0x1:
        return "encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # zipfile sets no bound to what one read unpacks by the other methods: gigabytes at once
        return f"packed by the method {zipfile.compressor_names.get(info.compress_type, info.compress_type)}"
    return None


def _tar_member(path: Path, member: str, stack: ExitStack) -> _Meter:
    with ExitStack() as first_pass:  # of two, as a stream cannot go back: is the member there exactly once?
        found = [(_odd_in_tar(entry), entry.size) for entry in _entries(_tar(path, first_pass)[0], path, member)]
    _check_found(path, member, found)
    archive, below = _tar(path, stack)
    entry = next(_entries(archive, path, member))
    return _Meter(stack.enter_context(archive.extractfile(entry)), _label(path, member), below)


def _tar(path: Path, stack: ExitStack) -> tuple[tarfile.TarFile, _Meter]:
    stream = _plain(_disk(path, stack), stack)
    if not _is_tar(stream):
        raise UserError(f"{path} is neither a tar nor a zip archive, but a `member` of it is asked for.")
    return stack.enter_context(tarfile.open(fileobj=stream, mode="r|")), stream.raw


def _entries(archive: Iterable[tarfile.TarInfo], path: Path, member: str) -> Iterator[tarfile.TarInfo]:
    for entry in archive:
        if not 0 <= entry.size <= MOST_BYTES:  # tarfile would skip it for hours, also past the file's end
            raise UserError(_unbelievable(path, entry.name, entry.size))
        if _same(entry.name, member):
            yield entry


def _odd_in_tar(entry: tarfile.TarInfo) -> str | None:
    if entry.issparse():  # a few bytes that stand for any number of zeros
        return "sparse"
    return None if entry.isreg() else _TAR_KINDS.get(entry.type, "a device")


def _same(name: str, member: str) -> bool:
    return _normal(name) == _normal(member)


def _normal(name: str) -> tuple[bool, list[str]]:
    """Take `./` and doubled slashes out. `..` stays: it leads nowhere in an archive."""
    return name.startswith("/"), [part for part in name.split("/") if part not in ("", ".")]


def _label(path: Path, member: str) -> str:
    return f"{path}, member {member},"


def _unbelievable(path: Path, member: str, size: int) -> str:
    return f"{path}: the member {member} claims to hold {size} bytes; that cannot be right: fetch it again."


def _check_found(path: Path, member: str, found: list[tuple[str | None, int]]) -> None:
    """Refuse all but one member, of an ordinary kind and size; `found` has what is odd about each, and its size."""
    if len(found) != 1:
        raise UserError(f"{path} holds {len(found)} members called {member}, not one: check the data set's `member`.")
    odd, size = found[0]
    if odd:
        raise UserError(
            f"{path}: the member {member} is {odd}, not a regular file, plain or deflated:"
            " check the data set's `member`, or pack it anew."
        )
    if size > MOST_BYTES:
        raise UserError(_unbelievable(path, member, size))
