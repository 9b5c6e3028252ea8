"""One-dimensional arrays in files that are mapped into memory: read on demand, shared by processes, never copied.

A file is a header of one page (JSON padded with spaces, then its checksum) and the values. It appears whole or not at
all. The header has a key, which says what the array was made from, and a checksum (CRC-32) of the values.
"""

import json
import mmap
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from nmtcore.errors import explain_os_errors
from nmtcore.files import atomic_path

HEADER_BYTES = 4096
"""Bytes of the header, a page of memory, so that values are aligned."""
_CHECKSUM_BYTES = 4
_BLOCK = 1 << 17
"""Bytes that are read at once to compare the checksum; they are not mapped, so that they take no more memory."""
_FORMAT = 2
"""To be raised if the format changes: older files are then made again."""


class ArrayWriter:
    """Appends values to a file that `array_writer` has opened."""

    def __init__(self, file: BinaryIO, dtype: np.dtype) -> None:
        self._file, self._dtype, self.count, self.checksum = file, dtype, 0, 0

    def append(self, values: np.ndarray) -> None:
        """Append values. Raises `ValueError` if there is one that the array's type does not have."""
        stored = np.ascontiguousarray(values, dtype=self._dtype)
        if stored.dtype != values.dtype and not np.array_equal(stored, values):
            raise ValueError(f"there are values that {self._dtype} does not have")
        self._file.write(stored.data)
        self.checksum = zlib.crc32(stored.data, self.checksum)
        self.count += len(stored)


@contextmanager
def array_writer(path: Path, dtype: np.dtype | type, key: str) -> Iterator[ArrayWriter]:
    """Open `path` for writing an array; the file appears if the block succeeds. Raises the errors of `atomic_path`."""
    dtype = np.dtype(dtype)
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        file.seek(HEADER_BYTES)
        writer = ArrayWriter(file, dtype)
        yield writer
        file.seek(0)
        file.write(_header(dtype, writer, key))


def open_array(path: Path, key: str) -> np.ndarray | None:
    """Map the array in `path` into memory, read-only.

    Return None if there is no such file, if it was made from something else (has another key), or if it is damaged or
    not complete: then its header, its size or the checksum of its values is wrong. So all values are read once.
    """
    with explain_os_errors(path), suppress(FileNotFoundError):
        with open(path, "rb") as file:
            header = _read_header(file.read(HEADER_BYTES))
            if header.get("format") != _FORMAT or header["key"] != key:
                return None
            dtype, count = np.dtype(header["dtype"]), header["count"]
            if file.seek(0, os.SEEK_END) != HEADER_BYTES + count * dtype.itemsize:
                return None
            file.seek(HEADER_BYTES)
            if _checksum_of_rest(file) != header["checksum"]:
                return None
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return np.frombuffer(mapped, dtype=dtype, count=count, offset=HEADER_BYTES)
    return None


def _checksum_of_rest(file: BinaryIO) -> int:
    checksum, block = 0, memoryview(bytearray(_BLOCK))
    while size := file.readinto(block):
        checksum = zlib.crc32(block[:size], checksum)
    return checksum


def _header(dtype: np.dtype, written: ArrayWriter, key: str) -> bytes:
    values = {"format": _FORMAT, "dtype": dtype.str, "count": written.count, "checksum": written.checksum, "key": key}
    text = json.dumps(values).encode().ljust(HEADER_BYTES - _CHECKSUM_BYTES)
    return text + _checksum(text)


def _read_header(header: bytes) -> dict[str, Any]:
    """Return the values of a header; {} if it is not as it was written."""
    text, checksum = header[:-_CHECKSUM_BYTES], header[-_CHECKSUM_BYTES:]
    return json.loads(text) if len(header) == HEADER_BYTES and checksum == _checksum(text) else {}


def _checksum(text: bytes) -> bytes:
    return zlib.crc32(text).to_bytes(_CHECKSUM_BYTES, "little")
