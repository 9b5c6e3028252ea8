"""How the layers of a run are laid over one another, and what a scale overrides in a system."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nmtcore.config.typed import merge

Layer = Mapping[str, Mapping[str, Any]]
"""What one layer (a recipe, a data set, a scale, a system) sets, by section."""

DECIDED_BY_SCALE = {
    "model": ("width", "feed_forward", "decoder_layers"),
    "training": ("schedule", "batch", "validation", "max_updates", "checkpoint_every", "keep", "average"),
    "decoding": (),
}
"""By section: where a scale and a system both set one of these, the scale's value holds, for it makes the model and the
run as small as the scale promises. Where both set anything else (dropout, say), the system's holds: it may be what the
system is about. Recipes and data sets give way to both."""


@dataclass(frozen=True, kw_only=True)
class Overridden:
    """A setting of a system for which its scale has another value, which holds."""

    system: str
    scale: str
    setting: str
    """Its section and keys: `training.schedule.peak`."""
    value: Any
    """The scale's."""
    instead_of: Any
    """The system's."""

    def __str__(self) -> str:
        value, own = _shown(self.value), _shown(self.instead_of)
        return f"{self.system} at scale {self.scale}: {self.setting} is {value} (the scale's), not {own}."


def laid_over(section: str, *below: Layer, scale: Layer, system: Layer) -> dict[str, Any]:
    """Merge a section of all layers: those `below`, the scale, the system, and again what the scale decides."""
    decided = {key: value for key, value in scale[section].items() if key in DECIDED_BY_SCALE[section]}
    return merge(*(layer[section] for layer in below), scale[section], system[section], decided)


def overridden(scale: Layer, system: Layer) -> Iterator[tuple[str, Any, Any]]:
    """Give the name, the scale's value and the system's of each setting of the system that the scale overrides."""
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
    """Take a number that YAML reads as a text (1e-4, without a point) as a number."""
    with contextlib.suppress(TypeError, ValueError):
        return float(value)
    return value


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
