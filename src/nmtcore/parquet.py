"""Streaming readers and writers of Parquet files with one row per sentence pair; files are complete or absent.

What was written is what is read: a file in which a bit has changed is refused. Parquet's own checksums cover the data
of pages, but neither their headers nor the footer, and if a bit has changed there, pyarrow may read fewer rows or other
values. So our files have a checksum (CRC-32) of each column of each row group, and one of the footer. They lie between
the data and the footer, where other readers of Parquet do not look:

    data | checksum of each column of each row group | their number | checksum of all that follows the data | `_MARK` |
    footer | length of the footer | PAR1
"""

import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from nmtcore.errors import UserError, explain_os_errors
from nmtcore.files import atomic_path

ROWS_PER_GROUP = 10_000
_MARK = b"nmtcore"
_INTEGER = 4
"""Bytes of each length and checksum, which are little-endian."""


class RowWriter:
    """Writes rows (dicts) and record batches in row groups of `ROWS_PER_GROUP`."""

    def __init__(self, writer: pq.ParquetWriter, schema: pa.Schema) -> None:
        self._writer = writer
        self._schema = schema
        self._rows: list[dict[str, Any]] = []
        self.count = 0

    def write(self, row: dict[str, Any]) -> None:
        """Add a row; columns that it lacks become null."""
        self._rows.append(row)
        self.count += 1
        if len(self._rows) >= ROWS_PER_GROUP:
            self.flush()

    def write_batch(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Add a batch of rows."""
        self.flush()
        table = pa.table(batch) if isinstance(batch, pa.RecordBatch) else batch
        self._writer.write_table(table.cast(self._schema), row_group_size=ROWS_PER_GROUP)
        self.count += table.num_rows

    def flush(self) -> None:
        """Write the rows that have been collected as a row group."""
        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []


@contextmanager
def row_writer(path: str | Path, schema: pa.Schema) -> Iterator[RowWriter]:
    """Open `path` for writing rows of `schema` (zstd); the file appears if the block succeeds."""
    with atomic_path(path) as temporary:
        with pq.ParquetWriter(temporary, schema, compression="zstd") as file:
            writer = RowWriter(file, schema)
            yield writer
            writer.flush()
        _seal(temporary)


def _seal(path: Path) -> None:
    """Insert the checksums of a Parquet file before its footer; the offsets in the footer stay valid."""
    with open(path, "rb+") as file:
        chunks = _column_chunks(pq.read_metadata(path))
        sums = b"".join(_integer(_checksum(file, *span)) for group in chunks for span in group.values())
        footer_start = _footer_start(file)
        file.seek(footer_start)
        footer = file.read()
        sums += _integer(len(sums) // _INTEGER)
        file.seek(footer_start)
        file.write(sums + _integer(zlib.crc32(footer, zlib.crc32(sums))) + _MARK + footer)


def _read_seal(file: BinaryIO) -> list[int] | None:
    """Return the checksums of the columns of all row groups; None if the file's end is not as it was written."""
    start = _footer_start(file) - len(_MARK) - 2 * _INTEGER
    if start < 0:
        return None
    file.seek(start)
    count = int.from_bytes(file.read(_INTEGER), "little")
    checksum, mark, footer = file.read(_INTEGER), file.read(len(_MARK)), file.read()
    if mark != _MARK or start < count * _INTEGER:
        return None
    file.seek(start - count * _INTEGER)
    sums = file.read((count + 1) * _INTEGER)
    if checksum != _integer(zlib.crc32(footer, zlib.crc32(sums))):
        return None
    return [int.from_bytes(sums[k : k + _INTEGER], "little") for k in range(0, count * _INTEGER, _INTEGER)]


def _required_seal(path: str | Path, file: BinaryIO) -> list[int]:
    sums = _read_seal(file)
    if sums is None:
        raise UserError(_damaged(path, "its last bytes are not as they were written"))
    return sums


def content_key(path: str | Path) -> str:
    """Return a checksum of the checksums of all data of a file, without reading the data: 64 hexadecimal digits.

    Raises `UserError` if the file is missing, damaged at its end or not such a file.
    """
    with _explain_damage(path), open(path, "rb") as file:
        sums = _required_seal(path, file)
        file.seek(_footer_start(file) - len(_MARK) - (2 + len(sums)) * _INTEGER)
        return hashlib.sha256(file.read()).hexdigest()


def _footer_start(file: BinaryIO) -> int:
    """Return where the footer of a Parquet file starts according to its last bytes; it may be negative."""
    length_start = file.seek(0, os.SEEK_END) - 2 * _INTEGER
    file.seek(max(length_start, 0))
    return length_start - int.from_bytes(file.read(_INTEGER), "little")


def _integer(value: int) -> bytes:
    return value.to_bytes(_INTEGER, "little")


def _column_chunks(metadata: pq.FileMetaData) -> list[dict[str, tuple[int, int]]]:
    """Return (start, length) in bytes of each column in each row group, by its path, such as `words.list.element`."""
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    return [{column.path_in_schema: _span(column) for column in map(g.column, range(g.num_columns))} for g in groups]


def _span(column: pq.ColumnChunkMetaData) -> tuple[int, int]:
    start = column.dictionary_page_offset if column.has_dictionary_page else column.data_page_offset
    return start, column.total_compressed_size


def _checksum(file: BinaryIO, start: int, length: int) -> int:
    file.seek(start)
    return zlib.crc32(file.read(length))


def write_rows(path: str | Path, schema: pa.Schema, rows: Iterable[dict[str, Any]]) -> int:
    """Write all `rows` and return their number."""
    with row_writer(path, schema) as writer:
        for row in rows:
            writer.write(row)
    return writer.count


class CheckedFile:
    """A Parquet file that `row_writer` wrote, whose data are compared with their checksums as they are read."""

    def __init__(self, path: str | Path, file: BinaryIO, sums: list[int]) -> None:
        self._path, self._file = path, file
        self._parquet = pq.ParquetFile(path)
        self.metadata: pq.FileMetaData = self._parquet.metadata
        self.schema: pa.Schema = self._parquet.schema_arrow
        self._chunks = _column_chunks(self.metadata)
        remaining = iter(sums)
        self._sums = [{path: next(remaining) for path in group} for group in self._chunks]

    def batches(self, group: int, size: int, *, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a row group. Raises `UserError` if the data of a column have changed."""
        with _explain_damage(self._path):
            for path, span in self._chunks[group].items():
                is_read = columns is None or path.split(".")[0] in columns
                if is_read and _checksum(self._file, *span) != self._sums[group][path]:
                    raise UserError(_damaged(self._path, f"the column {path} has changed after it was written"))
            batches = self._parquet.iter_batches(size, row_groups=[group], columns=columns)
        while (batch := self._next(batches)) is not None:
            yield batch

    def _next(self, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
        with _explain_damage(self._path):
            return next(batches, None)

    def close(self) -> None:
        """Close the file for pyarrow."""
        self._parquet.close()


@contextmanager
def open_file(path: str | Path) -> Iterator[CheckedFile]:
    """Open a Parquet file that `row_writer` wrote. Raises `UserError` if it is missing, damaged or not such a file."""
    with ExitStack() as stack:
        with _explain_damage(path):
            file = stack.enter_context(open(path, "rb"))
            checked = CheckedFile(path, file, _required_seal(path, file))
        stack.callback(checked.close)
        yield checked


@contextmanager
def _explain_damage(path: str | Path) -> Iterator[None]:
    """Turn errors in reading a file into a `UserError` that says how to make it again."""
    with explain_os_errors(path):
        try:
            yield
        except FileNotFoundError as error:
            raise UserError(f"{path} does not exist: run the workflow, which makes it.") from error
        except (pa.ArrowException, OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # the system's, not pyarrow's
                raise
            raise UserError(_damaged(path, str(error).strip().rstrip("."))) from error


def _damaged(path: str | Path, fault: str) -> str:
    return f"{path} is damaged, or from an earlier version ({fault}): delete it and run the workflow again."


def row_count(path: str | Path) -> int:
    """Read the number of rows from the file's footer."""
    with open_file(path) as file:
        return file.metadata.num_rows


def read_batches(
    path: str | Path,
    *,
    columns: list[str] | None = None,
    start: int = 0,
    stop: int | None = None,
    size: int = ROWS_PER_GROUP,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows start..stop-1 of `path` as record batches of at most `size` rows, in order.

    Raises `UserError` if the file lacks one of the `columns`, of which pyarrow would say nothing.
    """
    with open_file(path) as file:
        if missing := {name.split(".")[0] for name in columns or []} - set(file.schema.names):
            raise UserError(_damaged(path, f"it has no column {min(missing)}"))
        stop = file.metadata.num_rows if stop is None else min(stop, file.metadata.num_rows)
        row = 0
        for group in range(file.metadata.num_row_groups):
            count = file.metadata.row_group(group).num_rows
            if row + count <= start or row >= stop:
                row += count
                continue
            # One iterator over all row groups would use more and more memory (pyarrow 26), so read them one by one.
            for batch in file.batches(group, size, columns=columns):
                first, end = max(start - row, 0), min(stop - row, batch.num_rows)
                row += batch.num_rows
                if first < end:
                    yield batch.slice(first, end - first)


def read_rows(
    path: str | Path, *, columns: list[str] | None = None, start: int = 0, stop: int | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the rows start..stop-1 of `path` as dictionaries, in order."""
    for batch in read_batches(path, columns=columns, start=start, stop=stop):
        yield from batch.to_pylist()


def read_rows_from(path: str | Path, id: int, *, columns: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows with at least the given `id` from a file that is sorted by it; `columns` must contain "id".

    Earlier row groups are skipped by their statistics, without reading them.
    """
    rows = read_rows(path, columns=columns, start=_first_row_near(path, id))
    return (row for row in rows if row["id"] >= id)


def _first_row_near(path: str | Path, id: int) -> int:
    """Return the first row of the first row group that may contain the given `id` or a larger one."""
    row = 0
    with open_file(path) as file:
        if "id" not in file.schema.names or not pa.types.is_integer(file.schema.field("id").type):
            raise UserError(_damaged(path, "it has no column id of integers"))
        columns = [file.metadata.schema.column(k).path for k in range(file.metadata.num_columns)]
        for number in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(number)
            ids = group.column(columns.index("id")).statistics
            if group.num_rows and (ids is None or not ids.has_min_max or ids.max >= id):
                break
            row += group.num_rows
    return row


def paired_batches(
    first: str | Path,
    second: str | Path,
    *,
    columns: tuple[list[str], list[str]],
    start: int = 0,
    stop: int | None = None,
) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """Yield the rows start..stop-1 of `first` with the corresponding rows of `second`, as batches of equal length.

    `columns` are read from each file in addition to `id`. Raises `UserError`, with the row (counted from 0), if two ids
    differ or a file ends before the other.
    """
    streams = (
        read_batches(first, columns=["id", *columns[0]], start=start, stop=stop),
        read_batches(second, columns=["id", *columns[1]]),
    )
    return paired_streams(*streams, files=(first, second), start=start)


def paired_streams(
    first: Iterator[pa.RecordBatch],
    second: Iterator[pa.RecordBatch],
    *,
    files: tuple[str | Path, str | Path],
    start: int = 0,
) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """Yield corresponding rows of two streams of batches, which have an `id` column, as batches of equal length.

    `files` are the files from which the streams were read. Raises `UserError`, with the row (counted from `start` in
    the first file, from 0 in the second), if two ids differ or a stream ends before the other.
    """
    streams = (first, second)
    unread: list[pa.RecordBatch | None] = [None, None]
    row = 0
    while True:
        for k in range(2):
            if unread[k] is None or unread[k].num_rows == 0:
                unread[k] = next(streams[k], None)
        if unread[0] is None and unread[1] is None:
            return
        if unread[0] is None or unread[1] is None:
            ended, other = files if unread[0] is None else files[::-1]
            raise UserError(
                f"{ended} ends before row {row}, but {other} does not: delete the older file and run again."
            )
        count = min(unread[0].num_rows, unread[1].num_rows)
        pair = unread[0].slice(0, count), unread[1].slice(0, count)
        _check_ids(pair, files, start=start, row=row)
        yield pair
        unread = [batch.slice(count) for batch in unread]
        row += count


def _check_ids(
    batches: tuple[pa.RecordBatch, pa.RecordBatch], files: tuple[str | Path, str | Path], *, start: int, row: int
) -> None:
    ids = [batch.column("id").to_numpy() for batch in batches]
    different = (ids[0] != ids[1]).nonzero()[0]
    if len(different):
        k = int(different[0])
        raise UserError(
            f"{files[1]}, row {row + k}, has pair {ids[1][k]}, but {files[0]}, row {start + row + k}, has pair "
            f"{ids[0][k]}: delete the older file and run again."
        )
