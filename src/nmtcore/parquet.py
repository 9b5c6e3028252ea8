"""Parquet files with a row a sentence pair: streamed in, streamed out, whole or absent."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nmtcore.errors import UserError, explained
from nmtcore.files import atomic_path

ROWS_PER_GROUP = 10_000


class RowWriter:
    """Collects rows (dictionaries) or record batches and writes them in groups of `ROWS_PER_GROUP`."""

    def __init__(self, writer: pq.ParquetWriter, schema: pa.Schema) -> None:
        self._writer = writer
        self._schema = schema
        self._rows: list[dict[str, Any]] = []
        self.count = 0

    def write(self, row: dict[str, Any]) -> None:
        """Add one row; a column that the row lacks is null."""
        self._rows.append(row)
        self.count += 1
        if len(self._rows) >= ROWS_PER_GROUP:
            self.flush()

    def write_batch(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Add many rows at once, after those written before."""
        self.flush()
        table = pa.table(batch) if isinstance(batch, pa.RecordBatch) else batch
        self._writer.write_table(table.cast(self._schema), row_group_size=ROWS_PER_GROUP)
        self.count += table.num_rows

    def flush(self) -> None:
        """Write the rows collected so far as a row group."""
        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []


@contextmanager
def row_writer(path: str | Path, schema: pa.Schema) -> Iterator[RowWriter]:
    """Open `path` for writing rows of `schema` (zstd); it appears when the block ends well."""
    with atomic_path(path) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as file:
        writer = RowWriter(file, schema)
        yield writer
        writer.flush()


def write_rows(path: str | Path, schema: pa.Schema, rows: Iterable[dict[str, Any]]) -> int:
    """Write all `rows` and return how many there were."""
    with row_writer(path, schema) as writer:
        for row in rows:
            writer.write(row)
    return writer.count


def open_file(path: str | Path) -> pq.ParquetFile:
    """Open a Parquet file; one that is missing, cut off or of another kind is a `UserError`."""
    with explained(path):
        try:
            return pq.ParquetFile(path)
        except pa.ArrowInvalid as error:
            raise UserError(
                f"{path} is not a whole Parquet file ({error}): delete it and run the workflow again."
            ) from error


def row_count(path: str | Path) -> int:
    """Tell the number of rows from the file's footer."""
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
    """Yield the rows start..stop-1 of `path` as record batches of at most `size` rows, in order."""
    with open_file(path) as file:
        stop = file.metadata.num_rows if stop is None else min(stop, file.metadata.num_rows)
        row = 0
        for group in range(file.metadata.num_row_groups):
            count = file.metadata.row_group(group).num_rows
            if row + count <= start or row >= stop:
                row += count
                continue
            # Group by group: one iterator over all groups holds ever more memory as it goes (pyarrow 26).
            for batch in file.iter_batches(size, row_groups=[group], columns=columns):
                left, right = max(start - row, 0), min(stop - row, batch.num_rows)
                row += batch.num_rows
                if left < right:
                    yield batch.slice(left, right - left)


def read_rows(
    path: str | Path, *, columns: list[str] | None = None, start: int = 0, stop: int | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the rows start..stop-1 of `path` as dictionaries, in order."""
    for batch in read_batches(path, columns=columns, start=start, stop=stop):
        yield from batch.to_pylist()


def read_rows_from(path: str | Path, id: int, *, columns: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows whose `id` is at least `id`, of a file that is sorted by it; `columns` must name it.

    Row groups that end before are skipped by their statistics, without reading them.
    """
    rows = read_rows(path, columns=columns, start=_first_row_near(path, id))
    return (row for row in rows if row["id"] >= id)


def _first_row_near(path: str | Path, id: int) -> int:
    """Give the first row of the first row group that may hold an `id` of that size."""
    row = 0
    with open_file(path) as file:
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
    """Yield the rows start..stop-1 of `first` beside all rows of `second`, as batches of equal length.

    `columns` are those wanted of each beside `id`. A row whose ids differ, or a file that ends before the other, is a
    `UserError` that names the row (counted from 0).
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
    """Yield two streams of batches with an `id`, read from `files`, side by side as batches of equal length.

    A row whose ids differ, or a stream that ends before the other, is a `UserError` that names the row (from `start` in
    the first file, from 0 in the second).
    """
    streams = (first, second)
    rest: list[pa.RecordBatch | None] = [None, None]
    row = 0
    while True:
        for k in range(2):
            if rest[k] is None or rest[k].num_rows == 0:
                rest[k] = next(streams[k], None)
        if rest[0] is None and rest[1] is None:
            return
        if rest[0] is None or rest[1] is None:
            ended, other = files if rest[0] is None else files[::-1]
            raise UserError(f"{ended} ends before row {row}, {other} goes on: delete the older one and run again.")
        count = min(rest[0].num_rows, rest[1].num_rows)
        pair = rest[0].slice(0, count), rest[1].slice(0, count)
        _check_ids(pair, files, start=start, row=row)
        yield pair
        rest = [batch.slice(count) for batch in rest]
        row += count


def _check_ids(
    batches: tuple[pa.RecordBatch, pa.RecordBatch], files: tuple[str | Path, str | Path], *, start: int, row: int
) -> None:
    ids = [batch.column("id").to_numpy() for batch in batches]
    different = (ids[0] != ids[1]).nonzero()[0]
    if len(different):
        k = int(different[0])
        raise UserError(
            f"{files[1]}, row {row + k}: it holds pair {ids[1][k]} where {files[0]}, row {start + row + k}, has pair "
            f"{ids[0][k]}: delete the older one and run again."
        )
