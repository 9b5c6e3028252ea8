"""The layers of a run's settings: what each file, or entry of a file, sets for it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nmtcore.config.files import Level
from nmtcore.config.systems import changes_of
from nmtcore.config.typed import merge

MERGED = ("model", "training", "decoding")
"""The sections of a run that more files set than those of data set and system."""


class Layer(NamedTuple):
    """What one file, or one entry of a file, sets for a run."""

    file: str
    """The file; of a system's also the system."""
    values: Mapping[str, Any]
    """Plain values by section."""


def recipe_layer(file: str, values: Mapping[str, Any], base: str) -> Layer:
    """Return the layer of a recipe for systems of a base."""
    return Layer(file, merge(_only_merged(values), values.get("per_base", {}).get(base, {})))


def scale_layer(file: str, values: Mapping[str, Any], base: str, is_fine_tuned: bool) -> Layer:
    """Return the layer of a scale; its `fine_tuning` applies if the system starts from another one."""
    recipe = recipe_layer(file, values, base)
    changes = {"training": values.get("fine_tuning", {})} if is_fine_tuned else {}
    return Layer(file, merge(recipe.values, changes, {"sentences": values.get("sentences", {})}))


def dataset_layers(levels: Sequence[Level], base: str) -> Iterator[Layer]:
    """Yield the layers of a data set and those that it extends, `levels`, the oldest first, for systems of a base.

    What any of them says of a base overrides what they say in general. Null for a section drops the ancestors' values.
    """
    first = {key: _first_after_null(levels, key) for key in (*MERGED, "per_base")}
    for i, level in enumerate(levels):
        dropped = {key for key in MERGED if i < first[key]}
        yield Layer(str(level.path), {key: own for key, own in level.keys.items() if key not in (*dropped, "per_base")})
    for level in levels[first["per_base"] :]:
        yield Layer(str(level.path), level.keys.get("per_base", {}).get(base, {}))


def system_layers(levels: Sequence[Level], datasets: Sequence[str]) -> tuple[list[Layer], list[Layer]]:
    """Return the layers of a system and its ancestors, `levels`, the oldest first: below the scale and above it.

    `datasets` are the data set and its ancestors, the nearest first.
    """
    changes = [(level.where, changes_of(level, datasets)) for level in levels]
    below = [Layer(file, values.get("below_scale", {})) for file, values in changes]
    return below, [Layer(file, values) for file, values in changes]


def merged(section: str, layers: Sequence[Layer]) -> dict[str, Any]:
    """Merge a section of all layers; a later layer wins."""
    return merge(*(layer.values.get(section, {}) for layer in layers))


def history(layers: Sequence[Layer], place: Sequence[str]) -> list[tuple[Any, str]]:
    """Return the values that the layers give a setting, each with its file, the one that counts last.

    `place` has the section and the keys. A single value for several keys (`words: moses`) is that of each of them. Null
    for a section or an entry drops what earlier layers say.
    """
    values: list[tuple[Any, str]] = []
    for layer in layers:
        value: Any = layer.values
        for depth, key in enumerate(place, start=1):
            if key not in value:
                break
            value = value[key]
            if value is None and depth < len(place):
                values.clear()
                break
            if depth == len(place) or not isinstance(value, Mapping):
                values.append((value, layer.file))
                break
    return values


def _only_merged(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: values[key] for key in MERGED if key in values}


def _first_after_null(levels: Sequence[Level], key: str) -> int:
    """Return the index of the first level whose value of a key counts."""
    nulls = [i for i, level in enumerate(levels) if level.keys.get(key, 0) is None]
    return nulls[-1] + 1 if nulls else 0
