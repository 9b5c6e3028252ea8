"""Layers of settings: what each file, or entry of a file, sets; merged, with the layer of each value."""

from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

DROPPING = {
    (), ("components",), ("transforms",), ("corpora",), ("annotators",), ("splits",), ("syntax",),
    *(("syntax", side) for side in ("source", "target")),
}  # fmt: skip
"""The mappings of data sets and systems in which null drops what earlier layers say of a key."""

Place = tuple[str, ...]
"""The sections and the key of a setting."""


class Layer(NamedTuple):
    """What one file, or one entry of a file, sets."""

    where: str
    """The file; of an entry also its name."""
    values: Mapping[str, Any]
    """Plain values."""
    name: str = ""
    """The name of the file or entry."""


class Merged:
    """Layers merged into one mapping, which knows the layers of each value.

    Values of a later layer win, inner mappings are merged, lists are replaced. In the mappings at `dropping`, null
    drops a key; elsewhere, it is a value.
    """

    def __init__(self, layers: Iterable[Layer] = (), *, dropping: Container[Place] = DROPPING) -> None:
        self.values: dict[str, Any] = {}
        """The merged values."""
        self._given: dict[Place, list[tuple[int, Any, str]]] = {}
        self._count, self._dropping = 0, dropping
        for layer in layers:
            self.add(layer)

    def add(self, layer: Layer) -> None:
        """Merge one more layer, which wins."""
        self._count += 1
        self._add(self.values, layer.values, layer.where, ())

    def _add(self, values: dict[str, Any], added: Mapping[str, Any], where: str, place: Place) -> None:
        for key, value in added.items():
            here = (*place, key)
            if value is None and place in self._dropping:
                values.pop(key, None)
                self._given = {old: given for old, given in self._given.items() if old[: len(here)] != here}
                continue
            is_first = key not in values
            if isinstance(value, Mapping):
                values[key] = dict(values[key]) if isinstance(values.get(key), Mapping) else {}
                self._add(values[key], value, where, here)
            else:
                values[key] = value
            if is_first or not isinstance(value, Mapping):
                given = self._given.setdefault(here, [])
                if given and given[-1][2] == where:  # what the same file says elsewhere, such as in its `per_base`
                    given.pop()
                given.append((self._count, value, where))

    def given(self, place: Place) -> list[tuple[Any, str]]:
        """Return the values that layers give a setting, each with its layer; the last one counts.

        A single value for several keys (`words: moses`) is that of each of them. Of a mapping, it is the layer that has
        it first.
        """
        above = (record for length in range(1, len(place)) for record in self._given.get(place[:length], ()))
        given = [record for record in above if not isinstance(record[1], Mapping)] + self._given.get(place, [])
        return [(value, where) for _, value, where in sorted(given, key=lambda record: record[0])]


def merge(*mappings: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings as `Merged` does, without their layers; null is a value."""
    return Merged((Layer("", mapping) for mapping in mappings), dropping=()).values
