"""Ragged arrays against lists of lists."""

import numpy as np
import pytest
from features.sentences import lists_of
from hypothesis import example, given
from hypothesis import strategies as st

from nmtcore.features.ragged import Ragged, compact, concatenate_columns

LISTS = st.lists(st.lists(st.integers(-9, 9), max_size=5), max_size=6)


@given(LISTS)
def test_values_and_lengths_match_the_lists(lists):
    ragged = Ragged.from_lists(lists, np.int32)
    assert ragged.values.dtype == np.int32
    assert lists_of(ragged) == lists
    assert len(ragged) == len(lists)
    assert ragged.lengths.tolist() == [len(row) for row in lists]
    assert [ragged[i].tolist() for i in range(-len(lists), len(lists))] == lists + lists
    rows, columns = ragged.rows_and_columns()
    assert list(zip(rows, columns, strict=True)) == [(r, c) for r, row in enumerate(lists) for c in range(len(row))]


@given(LISTS.filter(len), st.data())
def test_rows_are_taken_in_any_order(lists, data):
    rows = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=8))
    taken = Ragged.from_lists(lists, np.int64).take(np.array(rows, dtype=int))
    assert lists_of(taken) == [lists[r] for r in rows]


@given(LISTS)
def test_other_values_are_counted_in_all_blocks(lists):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nmtcore.features.ragged.BLOCK", 3)
        counts = Ragged.from_lists(lists, np.int32).count_other_values(-2)
    assert counts.tolist() == [sum(value != -2 for value in row) for row in lists]


@given(LISTS, st.integers(0, 3), st.integers(0, 4))
def test_padding_surrounds_the_rows(lists, offset, more):
    ragged = Ragged.from_lists(lists, np.int64)
    width = offset + max(map(len, lists), default=0) + more
    expected = [[77] * offset + row + [77] * (width - offset - len(row)) for row in lists]
    array = ragged.padded(fill=77, width=width, offset=offset)
    assert array.shape == (len(lists), width)
    assert array.tolist() == expected


@given(LISTS, st.integers(-9, 9))
def test_sequences_are_enclosed(lists, after):
    ragged = Ragged.from_lists(lists, np.int32)
    enclosed = ragged.enclosed(np.arange(len(lists)), after)
    assert lists_of(enclosed) == [[i, *row, after] for i, row in enumerate(lists)]
    assert enclosed.values.dtype == np.int32
    assert lists_of(ragged) == lists


SMALL = ("uint8", "int8", "uint16", "int16")


@given(st.lists(st.integers(-(2**17), 2**17) | st.integers(-200, 300), max_size=5))
@example([127, -1])
@example([128, -1])
@example([-129])
@example([2**15 - 1, -1])
@example([2**15, -1])
def test_integers_get_the_smallest_type_that_has_all_of_them(values):
    dtype = compact(np.array(values, np.int32)).dtype
    fitting = [name for name in SMALL if all(np.iinfo(name).min <= v <= np.iinfo(name).max for v in values)]
    assert dtype == (fitting[0] if fitting else "int32")
    assert compact(np.array([1.5], np.float32)).dtype == np.float32


VALUES = st.sampled_from([-500, -2, 0, 7, 255, 300, 70_000])
PARTS = st.lists(st.lists(st.lists(VALUES, max_size=4), max_size=4))


@given(PARTS.filter(len), st.sampled_from([np.int32, np.float32]))
def test_blocks_are_concatenated_in_small_types(lists, dtype):
    blocks = [(np.arange(len(rows)), {"a": Ragged.from_lists(rows, dtype)}) for rows in lists]
    ids, columns = concatenate_columns(blocks)
    assert (ids.dtype, ids.tolist()) == (np.int64, [row for rows in lists for row in range(len(rows))])
    assert lists_of(columns["a"]) == [row for rows in lists for row in rows]
    parts = [array for rows in lists for array in [compact(Ragged.from_lists(rows, dtype).values)] if len(array)]
    assert columns["a"].values.dtype == (np.result_type(*parts) if parts else compact(np.zeros(0, dtype)).dtype)


def test_sequences_of_a_small_type_are_taken_and_changed_without_overflow():
    ragged = Ragged.from_lists([[255], [7, 8]], np.uint8)
    assert ragged.take(np.array([1])).values.dtype == np.int32
    assert lists_of(ragged.enclosed(-1, 70_000)) == [[-1, 255, 70_000], [-1, 7, 8, 70_000]]
    assert ragged.padded(fill=-1).tolist() == [[255, -1], [7, 8]]
    assert ragged.count_other_values(-1).tolist() == [1, 2]
    assert ragged.count_other_values(255).tolist() == [0, 2]
