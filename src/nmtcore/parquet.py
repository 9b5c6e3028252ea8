"""Streaming readers and writers of Parquet files with one row per sentence pair; files are complete or absent.

Each page of data has a checksum of Parquet's own, which is compared as it is read. What that does not cover (headers
and footer, or a whole file in another's place) is noticed by the jobs of the workflow (`written.py`).
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nmtcore.errors import UserError, explain_os_errors
from nmtcore.files import atomic_path

ROWS_PER_GROUP = 10_000


class RowWriter:
    """Writes rows (dicts) and record batches in row groups of `ROWS_PER_GROUP`."""

    def __init__(self, writer: pq.ParquetWriter, schema: pa.Schema) -> None:
        self._writer = writer
        self._schema = schema
        self._rows: list[dict[str, Any]] = []

    def write(self, row: dict[str, Any]) -> None:
        """Add a row; columns that it lacks become null."""
        self._rows.append(row)
        if len(self._rows) >= ROWS_PER_GROUP:
            self.flush()

    def write_batch(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Add a batch of rows."""
        self.flush()
        table = pa.table(batch) if isinstance(batch, pa.RecordBatch) else batch
        self._writer.write_table(table.cast(self._schema), row_group_size=ROWS_PER_GROUP)

    def flush(self) -> None:
        """Write the rows that have been collected as a row group."""
        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []


@contextmanager
def row_writer(path: str | Path, schema: pa.Schema) -> Iterator[RowWriter]:
    """Open `path` for writing rows of `schema` (zstd); the file appears if the block succeeds."""
    with (
        atomic_path(path) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd", write_page_checksum=True) as file,
    ):
        writer = RowWriter(file, schema)
        yield writer
        writer.flush()


def write_rows(path: str | Path, schema: pa.Schema, rows: Iterable[dict[str, Any]]) -> None:
    """Write all `rows`."""
    with row_writer(path, schema) as writer:
        for row in rows:
            writer.write(row)


@contextmanager
def open_file(path: str | Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file, whose pages are checked as they are read. Raises `UserError` if it is missing or damaged."""
    with _explain_damage(path):
        file = pq.ParquetFile(path, page_checksum_verification=True)
    with file:
        yield file


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
        if missing := {name.split(".")[0] for name in columns or []} - set(file.schema_arrow.names):
            raise UserError(_damaged(path, f"it has no column {min(missing)}"))
        stop = file.metadata.num_rows if stop is None else stop
        end = 0
        # One iterator over all row groups would use more and more memory (pyarrow 26), so read them one by one.
        for group in range(file.metadata.num_row_groups):
            first, end = end, end + file.metadata.row_group(group).num_rows
            if first < stop and start < end:
                with _explain_damage(path):
                    rows = file.read_row_group(group, columns=columns)
                before = max(start - first, 0)
                yield from rows.slice(before, min(stop, end) - first - before).to_batches(size)


def read_rows(
    path: str | Path, *, columns: list[str] | None = None, start: int = 0, stop: int | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the rows start..stop-1 of `path` as dictionaries, in order."""
    for batch in read_batches(path, columns=columns, start=start, stop=stop):
        yield from batch.to_pylist()


def read_rows_from(path: str | Path, id: int, *, columns: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows with at least the given `id` from a file that is sorted by it."""
    start = sum(int((batch["id"].to_numpy() < id).sum()) for batch in read_batches(path, columns=["id"]))
    return read_rows(path, columns=columns, start=start)


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
        check_ids(*(batch.column("id").to_numpy() for batch in pair), files=files, rows=(start + row, row))
        yield pair
        unread = [batch.slice(count) for batch in unread]
        row += count


def check_ids(
    ids: np.ndarray, other_ids: np.ndarray, *, files: tuple[str | Path, str | Path], rows: tuple[int, int] = (0, 0)
) -> None:
    """Raise `UserError` if the ids of two files differ, which were read from the given `rows` on."""
    first, other = files
    if len(ids) != len(other_ids):
        counts = rows[0] + len(ids), rows[1] + len(other_ids)
        raise UserError(
            f"{first} has {counts[0]} rows, but {other} has {counts[1]}: delete the older file and run the workflow "
            "again."
        )
    for k in (ids != other_ids).nonzero()[0][:1]:
        raise UserError(
            f"{other}, row {rows[1] + k}, has pair {other_ids[k]}, but {first}, row {rows[0] + k}, has pair {ids[k]}: "
            "delete the older file and run the workflow again."
        )
