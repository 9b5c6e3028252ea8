"""Arrays that grow in place while files are read, so that no parts are held beside the whole."""

import numpy as np

from nmtcore.features.ragged import Ragged


class GrowingArray:
    """A one-dimensional array to which values are appended."""

    def __init__(self, dtype: np.dtype | type) -> None:
        self._array = np.zeros(0, dtype=dtype)

    def __len__(self) -> int:
        return len(self._array)

    def append(self, values: np.ndarray) -> None:
        """Copy `values` to the end."""
        length = len(self._array)
        # Nothing else refers to the array before `finish`, so its memory may move (its pages, on Linux: no copy).
        self._array.resize(length + len(values), refcheck=False)
        self._array[length:] = values

    def finish(self) -> np.ndarray:
        """Give the array away, and start again with an empty one."""
        array, self._array = self._array, np.zeros(0, dtype=self._array.dtype)
        return array


class GrowingRagged:
    """Sequences to which others are appended."""

    def __init__(self, dtype: np.dtype | type) -> None:
        self._values, self._ends = GrowingArray(dtype), GrowingArray(np.int64)
        self._ends.append(np.zeros(1))

    def append(self, ragged: Ragged) -> None:
        """Copy the sequences of `ragged` to the end."""
        self._ends.append(ragged.offsets[1:] + len(self._values))
        self._values.append(ragged.values)

    def finish(self) -> Ragged:
        """Give the sequences away; nothing may be appended any more."""
        return Ragged(self._values.finish(), self._ends.finish())
