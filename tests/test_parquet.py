"""Parquet files are read in ranges, in order, with at most a row group in memory."""

import random
from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmtcore.errors import UserError
from nmtcore.parquet import read_batches, read_rows, read_rows_from, row_count, row_writer

SCHEMA = pa.schema([("id", pa.int64()), ("words", pa.list_(pa.string()))])


def write(path, groups: list[int], ids: Sequence[int] | None = None) -> int:
    """Write row groups of these sizes; return the number of rows, whose ids are 0, 1... by default."""
    ids = list(range(sum(groups)) if ids is None else ids)
    with row_writer(path, SCHEMA) as writer:
        for number, count in enumerate(groups):
            own = ids[sum(groups[:number]) :][:count]
            words = [[str(i * k % 997) for k in range(9)] for i in own]
            writer.write_batch(pa.record_batch({"id": own, "words": words}, schema=SCHEMA))
    return len(ids)


@given(st.lists(st.integers(0, 7), max_size=6), st.integers(0, 40), st.none() | st.integers(0, 40), st.integers(1, 9))
@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_range_of_rows_can_be_read(tmp_path, groups, start, stop, size):
    total = write(tmp_path / "x", groups)
    batches = list(read_batches(tmp_path / "x", start=start, stop=stop, size=size))
    assert [i for batch in batches for i in batch.column("id").to_pylist()] == list(range(total))[start:stop]
    assert all(0 < batch.num_rows <= size for batch in batches)
    assert row_count(tmp_path / "x") == total


@given(st.sets(st.integers(0, 60)), st.integers(0, 61), st.integers(1, 9))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_from_an_id_on_are_read_even_if_ids_are_missing(tmp_path, present, id, group):
    ids = sorted(present)
    write(tmp_path / "x", [len(ids[k : k + group]) for k in range(0, len(ids), group)], ids)
    rows = read_rows_from(tmp_path / "x", id, columns=["id"])
    assert [row["id"] for row in rows] == [other for other in ids if other >= id]


def test_a_flipped_bit_in_the_data_is_never_read_as_other_data(tmp_path):
    path = tmp_path / "x.parquet"
    write(path, [40, 40])
    data, rows = path.read_bytes(), list(read_rows(path))
    footer_start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    messages = []
    for bit in random.Random(1).sample(range(8 * 4, 8 * footer_start), 400):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            assert list(read_rows(path)) == rows, "a bit of a header that nothing is read from"
        except UserError as error:
            messages.append(str(error))
    assert len(messages) > 300
    for message in messages:
        assert message.startswith(f"{path} is damaged, or from an earlier version (")
        assert message.endswith("): delete it and run the workflow again.")


def test_a_file_that_is_cut_off_anywhere_is_refused(tmp_path):
    path = tmp_path / "x.parquet"
    write(path, [3])
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(UserError, match=r"x.parquet is damaged"):
            row_count(path)
