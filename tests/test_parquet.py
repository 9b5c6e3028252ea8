"""Parquet files are read in ranges, in order, with at most a row group in memory."""

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmtcore import parquet
from nmtcore.parquet import read_batches, read_rows_from, row_count, row_writer

SCHEMA = pa.schema([("id", pa.int64()), ("words", pa.list_(pa.string()))])


def write(path, groups: list[int]) -> int:
    first = 0
    with row_writer(path, SCHEMA) as writer:
        for count in groups:
            ids = list(range(first, first + count))
            writer.write_batch(
                pa.record_batch(
                    {"id": ids, "words": [[str(i * k % 997) for k in range(9)] for i in ids]}, schema=SCHEMA
                )
            )
            first += count
    return first


@given(st.lists(st.integers(0, 7), max_size=6), st.integers(0, 40), st.none() | st.integers(0, 40), st.integers(1, 9))
@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_range_of_rows_can_be_read(tmp_path, groups, start, stop, size):
    total = write(tmp_path / "x", groups)
    batches = list(read_batches(tmp_path / "x", start=start, stop=stop, size=size))
    assert [i for batch in batches for i in batch.column("id").to_pylist()] == list(range(total))[start:stop]
    assert all(0 < batch.num_rows <= size for batch in batches)
    assert row_count(tmp_path / "x") == total


@pytest.mark.parametrize("columns", [None, ["words"]])
def test_memory_does_not_grow_with_the_file(columns, tmp_path):
    """The memory of a pyarrow iterator over all row groups grows with their number."""
    peaks = []
    for groups in (10, 80):
        write(tmp_path / "x", [2000] * groups)
        before = pa.total_allocated_bytes()
        peaks.append(max(pa.total_allocated_bytes() - before for _ in read_batches(tmp_path / "x", columns=columns)))
    assert peaks[1] < 2 * peaks[0]


@given(st.sets(st.integers(0, 60)), st.integers(0, 61), st.integers(1, 9))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_from_an_id_on_are_read_even_if_ids_are_missing(tmp_path, present, id, group):
    ids = sorted(present)
    with row_writer(tmp_path / "x", SCHEMA) as writer:
        for k in range(0, len(ids), group):
            writer.write_batch(
                pa.record_batch({"id": ids[k : k + group], "words": [[]] * len(ids[k : k + group])}, SCHEMA)
            )
    rows = read_rows_from(tmp_path / "x", id, columns=["id"])
    assert [row["id"] for row in rows] == [other for other in ids if other >= id]


def test_row_groups_before_an_id_are_not_read(tmp_path, monkeypatch):
    write(tmp_path / "x", [10] * 8)
    read, kept = [], parquet.read_batches
    monkeypatch.setattr(
        parquet, "read_batches", lambda path, **options: (read.append(options["start"]), kept(path, **options))[1]
    )
    assert [row["id"] for row in read_rows_from(tmp_path / "x", 57, columns=["id"])] == list(range(57, 80))
    assert read == [50]
