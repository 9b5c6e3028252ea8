"""Open a compressed or archived corpus file as a stream of bytes, without unpacking anything onto the disk.

Compression is detected by a file's first bytes, never by its name.
"""

import bz2
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

from nmtcore.errors import UserError, explain_os_errors, quoted
from nmtcore.numerals import natural_number

MAGIC = {b"\x1f\x8b": "gz", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst", b"BZh": "bz2", b"PK\x03\x04": "zip"}
BLOCK = 1 << 16
"""Bytes read from a compressed file at a time."""
MAX_MEMBER_BYTES = 1 << 40
"""Largest size that an archive member may claim."""
FREE_BYTES = 1 << 26
"""Decompressed bytes that are allowed however few compressed bytes there are."""
MAX_RATIO = 1000
"""Decompressed bytes allowed per compressed byte beyond `FREE_BYTES`. Text has a ratio of 2 to 10. The ratio of gz and
zip is at most 1,032 (deflate), so of these almost only zeros are refused; bz2, xz and zst could reach a million."""
DECOMPRESSION_ERRORS = (EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile)
"""Exceptions, besides `OSError`, that the decompressors raise on truncated or damaged data."""
MAX_TAR_NAME_BYTES = 1 << 20
"""Largest size of the record of a long name or of pax attributes in a tar archive; tarfile reads it as a whole."""
MAX_TAR_RECORDS = 16
"""Most such records before an entry; tarfile reads them recursively."""
_TAR_RECORDS = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)
_TAR_MAGIC = slice(257, 262)
_TAR_ENTRY_NAMES = {tarfile.SYMTYPE: "a symbolic link", tarfile.LNKTYPE: "a hard link", tarfile.DIRTYPE: "a folder"}
_UNIX_FILE_TYPES = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a folder"}


@contextmanager
def open_stream(path: str | Path, member: str | None = None) -> Iterator[io.BufferedReader]:
    """Yield the decompressed bytes of `path`, or of its archive member `member`.

    Archives are tar (compressed or not) and zip. The archive must contain the member exactly once, as a regular file,
    which may itself be compressed. Names in an archive are only compared, never used as paths, and nothing is written,
    so links, `..` and absolute names have no effect. Raises `UserError` for anything else, including data that turns
    out to be damaged, truncated or a decompression bomb while it is read.
    """
    path = Path(path)
    with readable(path), ExitStack() as stack:
        raw = _open_file(path, stack) if member is None else _open_member(path, member, stack)
        stream = _decompress(raw, stack)
        archive = "tar" if _is_tar(stream) else _compression(stream)
        if archive in ("tar", "zip"):
            advice = "name the `member` to read" if member is None else "extract it from the outer archive by hand"
            raise UserError(f"{stream.raw.name} is a {archive} archive: {advice}.")
        yield stream


@contextmanager
def readable(path: str | Path) -> Iterator[None]:
    """Turn exceptions of the decompressors and the system about `path` into a `UserError`."""
    with explain_os_errors(path):
        try:
            yield
        except DECOMPRESSION_ERRORS as error:
            raise UserError(_damaged(path, error)) from error
        except OSError as error:
            if error.errno is None:  # raised by a decompressor, not by the system
                raise UserError(_damaged(path, error)) from error
            raise


def _damaged(path: str | Path, error: Exception) -> str:
    return f"{path} is cut off or damaged ({error}): delete it and fetch it again, or replace it by an intact copy."


class _Meter(io.RawIOBase):
    """Counts the bytes read through it, and refuses more than the meters below it plausibly contain.

    One meter is below the first decompressor and one above each decompressor, so a bomb inside a bomb is compared both
    with the data from which it was unpacked and with the bytes on disk.
    """

    closed = False
    """A plain attribute: `readline` reads it for every line, and the inherited property is slow."""

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
            raise ValueError(f"the directory of the archive points to byte {offset}")
        return self._stream.seek(offset, whence)

    def readinto(self, buffer: memoryview) -> int:
        size = self._stream.readinto(buffer)
        self.count += size
        if self.count > FREE_BYTES and any(self.count > MAX_RATIO * meter.count for meter in self.below):
            raise UserError(
                f"{self.name} unpacks to over {MAX_RATIO:,} times its size, like a decompression bomb: fetch it again,"
                " from a source that you trust. If the file is right, unpack it by hand and use the unpacked file."
            )
        return size


def _open_file(path: Path, stack: ExitStack) -> _Meter:
    return _Meter(stack.enter_context(path.open("rb", buffering=0)), str(path))


def _compression(stream: io.BufferedReader) -> str | None:
    head = stream.peek(8)
    return next((name for magic, name in MAGIC.items() if head.startswith(magic)), None)


def _is_tar(stream: io.BufferedReader) -> bool:
    return stream.peek(512)[_TAR_MAGIC] == b"ustar"


def _decompress(raw: _Meter, stack: ExitStack) -> io.BufferedReader:
    """Remove the compression, if there is any; the `raw` attribute of the result is a meter."""
    stream = stack.enter_context(io.BufferedReader(raw, BLOCK))
    compression = _compression(stream)
    if compression in (None, "zip"):
        return stream
    decompressed = stack.enter_context(_decompressor(stream, compression))
    return stack.enter_context(io.BufferedReader(_Meter(decompressed, raw.name, raw), 1 << 18))


def _decompressor(stream: io.BufferedReader, compression: str) -> BinaryIO:
    if compression == "gz":
        import gzip

        return gzip.open(stream)
    if compression == "bz2":
        return _StreamSequence(stream, bz2.BZ2Decompressor)
    if compression == "xz":
        return _StreamSequence(stream, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), padding=4)
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd")


class _StreamSequence(io.RawIOBase):
    """Decompresses consecutive compressed streams up to the last byte of the file.

    Python's own readers for bz2 and xz stop silently after the first stream unless an intact stream follows. `padding`:
    null bytes are allowed between streams and at the end, in multiples of this number; 0: not allowed. Raises
    `EOFError` or `OSError` if a stream is truncated or damaged, or is followed by something else than a stream.
    """

    def __init__(self, stream: io.BufferedReader, make_decompressor: Callable[[], Any], *, padding: int = 0) -> None:
        self._stream = stream
        self._make_decompressor = make_decompressor
        self._padding = padding
        self._decompressor = make_decompressor()
        self._pending = b""
        """Bytes that were read but not yet decompressed."""
        self._number, self._start, self._read = 1, 0, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        """Fill a part of `buffer` and return its length; 0 at the end."""
        while self._decompressor is not None:
            if self._decompressor.eof:
                self._next_stream()
            elif data := self._decompress(len(buffer)):
                buffer[: len(data)] = data
                return len(data)
        return 0

    def _decompress(self, max_bytes: int) -> bytes:
        needs_input = self._decompressor.needs_input
        block = self._next_block() if needs_input else b""
        if needs_input and not block:
            raise EOFError(f"{self._stream_name()} ends too early")
        try:
            return self._decompressor.decompress(block, max_bytes)
        except (OSError, lzma.LZMAError) as error:
            raise OSError(f"{self._stream_name()}: {error}") from error

    def _next_stream(self) -> None:
        """Begin the stream after the one that has ended, if there is one."""
        rest = self._skip_padding(self._decompressor.unused_data or self._next_block())
        self._number, self._start = self._number + 1, self._read - len(rest)
        self._decompressor = self._make_decompressor() if rest else None
        self._pending = rest

    def _skip_padding(self, block: bytes) -> bytes:
        """Skip null bytes; return the rest of the block in which they end."""
        nulls = 0
        while self._padding and block:
            rest = block.lstrip(b"\0")
            nulls += len(block) - len(rest)
            if rest:
                block = rest
                break
            block = self._next_block()
        if self._padding and nulls % self._padding:
            raise EOFError(f"the {nulls} null bytes before byte {self._read - len(block)} are not valid padding")
        return block

    def _next_block(self) -> bytes:
        if self._pending:
            block, self._pending = self._pending, b""
            return block
        block = self._stream.read1(BLOCK)
        self._read += len(block)
        return block

    def _stream_name(self) -> str:
        return f"compressed stream {self._number} (from byte {self._start})"


def _open_member(path: Path, member: str, stack: ExitStack) -> _Meter:
    try:
        with path.open("rb") as file:
            is_zip = _compression(file) == "zip"
        return (_open_zip_member if is_zip else _open_tar_member)(path, member, stack)
    except (ValueError, NotImplementedError, struct.error, OverflowError) as error:  # invalid fields in the directory
        raise UserError(_damaged(path, error)) from error


def _open_zip_member(path: Path, member: str, stack: ExitStack) -> _Meter:
    disk = _open_file(path, stack)
    archive = stack.enter_context(zipfile.ZipFile(disk))
    entries = [entry for entry in archive.infolist() if _is_same_name(entry.filename, member)]
    _check_single(path, member, [_Match(_zip_fault(entry), entry.file_size) for entry in entries])
    stream = stack.enter_context(archive.open(entries[0]))
    disk.count = 0  # do not count the bytes of the directory
    return _Meter(stream, _label(path, member), disk)


def _zip_fault(entry: zipfile.ZipInfo) -> str | None:
    """Say what is unusual about a zip entry; None if it is a regular file, stored or deflated."""
    file_type = stat.S_IFMT(entry.external_attr >> 16)  # 0 if it was not packed on Unix
    if entry.is_dir() or file_type not in (0, stat.S_IFREG):
        return _UNIX_FILE_TYPES.get(file_type, "a folder" if entry.is_dir() else "a device")
    if entry.flag_bits & 0x1:
        return "encrypted"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # With the other methods, zipfile does not limit what one read decompresses: it may be gigabytes at once.
        return f"packed by the method {zipfile.compressor_names.get(entry.compress_type, entry.compress_type)}"
    return None


def _open_tar_member(path: Path, member: str, stack: ExitStack) -> _Meter:
    # Two passes, as a stream cannot go back: the first checks that the member occurs exactly once.
    with ExitStack() as first_pass:
        archive, _ = _open_tar(path, first_pass)
        matches = [_Match(_tar_fault(entry), entry.size) for entry in _tar_entries(archive, path, member)]
    _check_single(path, member, matches)
    archive, below = _open_tar(path, stack)
    entry = next(_tar_entries(archive, path, member))
    return _Meter(stack.enter_context(archive.extractfile(entry)), _label(path, member), below)


def _open_tar(path: Path, stack: ExitStack) -> tuple[tarfile.TarFile, _Meter]:
    stream = _decompress(_open_file(path, stack), stack)
    if not _is_tar(stream):
        raise UserError(
            f"{path} has a `member` in the data set, but it is neither a tar nor a zip archive: remove the `member`."
        )
    return stack.enter_context(tarfile.open(fileobj=stream, mode="r|", tarinfo=_CheckedTarInfo)), stream.raw


class _CheckedTarInfo(tarfile.TarInfo):
    """A header of a tar archive; records of names and attributes are limited in size and in number per entry.

    A size or owner among the attributes must be a number; tarfile would take 0 for anything else.
    """

    @classmethod
    def frombuf(cls, buf: bytes, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        if header.type in _TAR_RECORDS and not 0 <= header.size <= MAX_TAR_NAME_BYTES:
            raise tarfile.ReadError(f"a record of {header.size} bytes for a name or attributes")
        return header

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        depth = getattr(archive, "record_depth", 0)
        if depth > MAX_TAR_RECORDS:
            raise tarfile.ReadError(f"more than {MAX_TAR_RECORDS} records of names and attributes before an entry")
        archive.record_depth = depth + 1
        try:
            return super().fromtarfile(archive)
        finally:
            archive.record_depth = depth

    def _apply_pax_info(self, pax_headers: dict[str, str], encoding: str, errors: str) -> None:
        for name in ("size", "uid", "gid"):
            if natural_number(value := pax_headers.get(name, "0")) is None:
                raise tarfile.ReadError(f"the attribute {name} of an entry is {quoted(value)}, which is no number")
        super()._apply_pax_info(pax_headers, encoding, errors)


def _tar_entries(archive: Iterable[tarfile.TarInfo], path: Path, member: str) -> Iterator[tarfile.TarInfo]:
    """Yield the entries called `member`."""
    for entry in archive:
        if not 0 <= entry.size <= MAX_MEMBER_BYTES:  # tarfile would skip it for hours, even beyond the end of the file
            raise UserError(_implausible_size(path, entry.name, entry.size))
        if _is_same_name(entry.name, member):
            yield entry


def _tar_fault(entry: tarfile.TarInfo) -> str | None:
    """Say what is unusual about a tar entry; None if it is a regular file."""
    if entry.issparse():  # a few bytes can represent any number of zeros
        return "sparse"
    return None if entry.isreg() else _TAR_ENTRY_NAMES.get(entry.type, "a device")


def _is_same_name(name: str, member: str) -> bool:
    return _normalised(name) == _normalised(member)


def _normalised(name: str) -> tuple[bool, list[str]]:
    """Remove `./` and repeated slashes. `..` is kept, since names in an archive are not paths."""
    return name.startswith("/"), [part for part in name.split("/") if part not in ("", ".")]


def _label(path: Path, member: str) -> str:
    return f"{path}, member {member},"


def _implausible_size(path: Path, member: str, size: int) -> str:
    return f"{path}: the member {member} claims to hold {size} bytes, which cannot be right: fetch the archive again."


class _Match(NamedTuple):
    """An archive entry with the name of the requested member: what is unusual about it, if anything, and its size."""

    fault: str | None
    size: int


def _check_single(path: Path, member: str, matches: Sequence[_Match]) -> None:
    """Raise `UserError` unless there is exactly one match, a regular file of a plausible size."""
    if len(matches) != 1:
        raise UserError(f"{path} has {len(matches)} members called {member}, not one: check the data set's `member`.")
    match = matches[0]
    if match.fault:
        raise UserError(
            f"{path}: the member {member} is {match.fault}, not a regular file, stored or deflated: check the data"
            " set's `member`, or pack the archive again."
        )
    if match.size > MAX_MEMBER_BYTES:
        raise UserError(_implausible_size(path, member, match.size))
