"""Compose a system from the systems that it extends and from its changes for a data set."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from nmtcore.config.components import RESERVED_NAMES
from nmtcore.config.extends import Level
from nmtcore.config.systems import SystemEntry, SystemSettings
from nmtcore.config.typed import build, choose, merge, nearest, shown_value
from nmtcore.errors import UserError
from nmtcore.layout import NAME

BY_NAME = ("components", "transforms")
"""Sections of a system whose entries have names."""


def compose_system(levels: Iterable[Level], datasets: Sequence[str] = ()) -> SystemSettings:
    """Merge a system into its ancestors (the oldest comes first), each with its changes for a data set.

    `datasets` are the data set and its ancestors, the nearest first. The definition nearest to the system wins.
    Ancestors' components come first, in their order.
    """
    values: dict[str, Any] = {}
    for level in levels:
        own = {key: value for key, value in level.keys.items() if key != "per_dataset"}
        special = level.keys.get("per_dataset", {})
        values = merge(values, own, next((special[name] for name in datasets if name in special), {}))
        for section in BY_NAME:
            entries = values.get(section, {})
            values[section] = {name: entry for name, entry in entries.items() if entry is not None}
        values["description"] = own.get("description", "")  # an ancestor's describes another system
    return build(SystemSettings, values, where=level.where)


def check_levels(levels: Iterable[Level]) -> None:
    """Raise `UserError` if the keys of a system or one of its ancestors are not valid."""
    levels = list(levels)
    _check_external(levels)
    present: dict[str, set[str]] = {section: set() for section in BY_NAME}
    for level in levels:
        for section in BY_NAME:
            _check_by_name(section, level.keys.get(section, {}), where=level.where)
        for section, names in present.items():
            entries = level.keys.get(section, {})
            dropped = {name for name, settings in entries.items() if settings is None}
            for name in dropped - names:
                raise UserError(
                    f"{level.where}: {section}: {name}: null drops a {section.removesuffix('s')} of a system that this "
                    f"one extends, but none of them has it. {nearest(name, names)}"
                )
            present[section] = names - dropped | entries.keys() - dropped
        changes = _mapping(level.keys.get("per_dataset", {}), where=f"{level.where}: per_dataset")
        for dataset, special in changes.items():
            where = f"{level.where}: per_dataset: {dataset}"
            _check_special(_mapping(special, where=where), present["components"], where=where)
        build(SystemEntry, level.keys, where=level.where)


def _check_external(levels: Sequence[Level]) -> None:
    """Check that an external system has no keys for training, extends no other system and is not extended."""
    for level in levels:
        if level.keys.get("external") is None:
            continue
        others = [key for key in level.keys if key not in ("external", "description")]
        if others:
            raise UserError(
                f"{level.where}: external: the system is not trained here, so it has no {' and no '.join(others)}: "
                "delete one or the other."
            )
        if len(levels) > 1:
            raise UserError(
                f"{levels[-1].where}: extends: {level.name} is external, and such a system neither extends another "
                "nor is extended."
            )


def _mapping(value: Any, *, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UserError(f"{where} must be a mapping, not {shown_value(value)}.")
    return value


def _check_by_name(section: str, entries: Any, *, where: str) -> None:
    """Check that components or transforms are a mapping from names to settings or null."""
    if not isinstance(entries, dict):
        listed = section == "components" and isinstance(entries, list)
        hint = " Write {depparse: {layer: 1}} for [{name: depparse, layer: 1}]." if listed else ""
        raise UserError(f"{where}: {section} must be a mapping, not {shown_value(entries)}.{hint}")
    for name, settings in entries.items():
        if not re.fullmatch(NAME, str(name)) or name in RESERVED_NAMES:
            raise UserError(
                f"{where}: {section}: a {section.removesuffix('s')} cannot be called '{name}': use small letters, "
                f"digits and single underscores, begin with a letter, and avoid {', '.join(RESERVED_NAMES)}."
            )
        if not isinstance(settings, dict | None):
            raise UserError(
                f"{where}: {section}: {name} must be a mapping of its settings, not {shown_value(settings)}."
            )


def _check_special(special: dict[str, Any], components: Collection[str], *, where: str) -> None:
    """Check the sections of one entry of `per_dataset`, and that it only changes existing `components`."""
    for section, values in special.items():
        choose(section, ("components", "model", "training", "decoding"), noun="key", where=where)
        if section == "components":
            _check_by_name(section, values, where=where)
        elif not isinstance(values, dict):
            raise UserError(f"{where}: {section} must be a mapping, not {shown_value(values)}.")
    for name, settings in special.get("components", {}).items():
        choose(name, components, noun="component", where=f"{where}: components")
        if settings is None:
            raise UserError(
                f"{where}: components: {name} must be a mapping of its settings: `per_dataset` cannot drop a component."
            )
