"""Growing arrays, against concatenating lists."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.features.growing import GrowingArray, GrowingRagged
from nmtcore.features.ragged import Ragged

ROWS = st.lists(st.lists(st.integers(-9, 9), max_size=5), max_size=6)


@given(st.lists(ROWS, max_size=4))
def test_sequences_are_appended(parts):
    growing, ragged = GrowingRagged(np.int32), [Ragged.from_lists(rows, np.int32) for rows in parts]
    for part in ragged:
        growing.append(part)
        part.values[:] = 99
    whole = growing.finish()
    assert [row.tolist() for row in whole] == [row for rows in parts for row in rows]
    assert whole.values.dtype == np.int32


def test_a_finished_array_does_not_change():
    growing = GrowingArray(np.int64)
    growing.append(np.arange(3))
    first = growing.finish()
    growing.append(np.arange(5, 7))
    assert growing.finish().tolist() == [5, 6]
    assert first.tolist() == [0, 1, 2]
