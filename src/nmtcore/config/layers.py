"""Merge the layers of a run, and find the settings of a system that a scale overrides."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nmtcore.config.typed import merge

Layer = Mapping[str, Mapping[str, Any]]
"""The settings of one layer (a recipe, a data set, a scale or a system) by section."""

DECIDED_BY_SCALE = {
    "model": ("width", "feed_forward", "decoder_layers"),
    "training": ("schedule", "batch", "validation", "max_updates", "checkpoint_every", "keep", "average"),
    "decoding": (),
}
"""The keys, by section, for which a scale overrides a system, so that the model and the run are as small as the scale
promises. For all other keys (such as dropout) the system overrides the scale, since the system may be about them. Both
override recipes and data sets."""


@dataclass(frozen=True, kw_only=True)
class Overridden:
    """A setting of a system that its scale overrides with another value."""

    system: str
    scale: str
    setting: str
    """Section and keys, such as `training.schedule.peak`."""
    value: Any
    """The scale's value, which is used."""
    system_value: Any
    """The system's value, which is ignored."""

    def __str__(self) -> str:
        value, system_value = _yaml_text(self.value), _yaml_text(self.system_value)
        return f"{self.system} at scale {self.scale}: {self.setting} is {value} (the scale's), not {system_value}."


def merge_layers(section: str, *below: Layer, scale: Layer, system: Layer) -> dict[str, Any]:
    """Merge a section of all layers: those `below`, the scale, the system, and the keys that the scale decides."""
    decided = {key: value for key, value in scale[section].items() if key in DECIDED_BY_SCALE[section]}
    return merge(*(layer[section] for layer in below), scale[section], system[section], decided)


def overridden(scale: Layer, system: Layer) -> Iterator[tuple[str, Any, Any]]:
    """Yield each setting of the system that the scale overrides: its name, the scale's value and the system's value."""
    for section, keys in DECIDED_BY_SCALE.items():
        own = {key: value for key, value in system[section].items() if key in keys}
        yield from _differing(section, scale[section], own)


def _differing(name: str, scale: Mapping[str, Any], system: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for key, value in system.items():
        if key not in scale:
            continue
        if isinstance(value, Mapping) and isinstance(scale[key], Mapping):
            yield from _differing(f"{name}.{key}", scale[key], value)
        elif _number(value) != _number(scale[key]):
            yield f"{name}.{key}", scale[key], value


def _number(value: Any) -> Any:
    """Convert a number that YAML reads as a string (1e-4, without a point) to a number."""
    with contextlib.suppress(TypeError, ValueError):
        return float(value)
    return value


def _yaml_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
