"""Arrays that grow in place while files are read, so that memory holds no parts in addition to the whole."""

import numpy as np

from nmtcore.features.ragged import Ragged


class GrowingArray:
    """A one-dimensional array to which values can be appended."""

    def __init__(self, dtype: np.dtype | type) -> None:
        self._array = np.zeros(0, dtype=dtype)

    def __len__(self) -> int:
        return len(self._array)

    def append(self, values: np.ndarray) -> None:
        """Append a copy of `values`."""
        length = len(self._array)
        # Nothing else refers to the array before `finish`, so its memory may move (on Linux without copying).
        self._array.resize(length + len(values), refcheck=False)
        self._array[length:] = values

    def finish(self) -> np.ndarray:
        """Return the array, and start again with an empty one."""
        array, self._array = self._array, np.zeros(0, dtype=self._array.dtype)
        return array


class GrowingRagged:
    """A `Ragged` to which sequences can be appended."""

    def __init__(self, dtype: np.dtype | type) -> None:
        self._values, self._ends = GrowingArray(dtype), GrowingArray(np.int64)
        self._ends.append(np.zeros(1))

    def append(self, ragged: Ragged) -> None:
        """Append copies of the sequences of `ragged`."""
        self._ends.append(ragged.offsets[1:] + len(self._values))
        self._values.append(ragged.values)

    def finish(self) -> Ragged:
        """Return the sequences; nothing may be appended afterwards."""
        return Ragged(self._values.finish(), self._ends.finish())
