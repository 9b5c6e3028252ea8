"""How a system is composed of what it extends and of what it changes on a data set."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from nmtcore.config.components import TAKEN
from nmtcore.config.extends import Level
from nmtcore.config.systems import SystemEntry, SystemSettings
from nmtcore.config.typed import build, choose, merge, nearest
from nmtcore.errors import UserError
from nmtcore.layout import NAME

BY_NAME = ("components", "transforms")
"""What a system has several of, each with its name."""


def compose_system(levels: Iterable[Level], line: Sequence[str] = ()) -> SystemSettings:
    """Lay a system over its ancestors (the oldest comes first), each with what it changes on a data set.

    `line` is the data set and what it extends, the nearest first. Whatever is defined nearest to the system wins.
    Ancestors' components come first, in their order.
    """
    values: dict[str, Any] = {}
    for level in levels:
        own = {key: value for key, value in level.keys.items() if key != "per_dataset"}
        special = level.keys.get("per_dataset", {})
        values = merge(values, own, next((special[name] for name in line if name in special), {}))
        for section in BY_NAME:
            entries = values.get(section, {})
            values[section] = {name: entry for name, entry in entries.items() if entry is not None}
        values["description"] = own.get("description", "")  # An ancestor's would be of another system.
    return build(SystemSettings, values, where=level.where)


def check_levels(levels: Iterable[Level]) -> None:
    """Raise a sentence at a mistake in what a system or one of its ancestors says."""
    present: dict[str, set[str]] = {section: set() for section in BY_NAME}
    for level in levels:
        for section in BY_NAME:
            _check_by_name(section, level.keys.get(section, {}), where=level.where)
        entry = build(SystemEntry, level.keys, where=level.where)
        for section, known in present.items():
            entries = getattr(entry, section)
            dropped = {name for name, settings in entries.items() if settings is None}
            for name in dropped - known:
                raise UserError(
                    f"{level.where}: {section}: {name}: null drops a {section.removesuffix('s')} of a system that this "
                    f"one extends, but none has it. {nearest(name, known)}"
                )
            present[section] = known - dropped | entries.keys() - dropped
        for dataset, special in entry.per_dataset.items():
            _check_special(special, present["components"], where=f"{level.where}: per_dataset: {dataset}")


def _check_by_name(section: str, entries: Any, *, where: str) -> None:
    """Check that components or transforms are a mapping by name, of settings or null."""
    if not isinstance(entries, dict):
        listed = section == "components" and isinstance(entries, list)
        hint = " Write {depparse: {layer: 1}} for [{name: depparse, layer: 1}]." if listed else ""
        raise UserError(f"{where}: {section} must be a mapping, not {entries!r}.{hint}")
    for name, settings in entries.items():
        if not re.fullmatch(NAME, str(name)) or name in TAKEN:
            raise UserError(
                f"{where}: {section}: a {section.removesuffix('s')} cannot be called '{name}': it has small letters, "
                f"digits and single underscores, begins with a letter, and is none of {', '.join(TAKEN)}."
            )
        if not isinstance(settings, dict | None):
            raise UserError(f"{where}: {section}: {name} must be a mapping of its settings, not {settings!r}.")


def _check_special(special: dict[str, Any], components: Collection[str], *, where: str) -> None:
    """Check one entry of `per_dataset`: its sections, and that it changes only `components` that are there."""
    for section, values in special.items():
        choose(section, ("components", "model", "training", "decoding"), what="key", where=where)
        if section == "components":
            _check_by_name(section, values, where=where)
        elif not isinstance(values, dict):
            raise UserError(f"{where}: {section} must be a mapping, not {values!r}.")
    for name, settings in special.get("components", {}).items():
        choose(name, components, what="component", where=f"{where}: components")
        if settings is None:
            raise UserError(f"{where}: components: {name} must be a mapping of its settings: no data set drops one.")
