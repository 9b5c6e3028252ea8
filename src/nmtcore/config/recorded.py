"""Settings by their paths, without those at their default, and how two such records differ."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from nmtcore.config.defaults import Defaulted

LONGEST = 100
"""Characters of a value that are shown."""

ANOTHER_WAY = "the same settings, recorded in another way"
"""What is said of two records that differ although no setting does: one is an older version's."""

ORDERED = ("components", "transforms")
"""Paths of mappings whose order counts."""


class Recorded(dict[str, Any]):
    """Settings by their paths, without those at their default.

    `defaults` are the defaults, by path, under the path of what they are settings of.
    """

    def __init__(self, settings: Mapping[str, Any], defaults: Mapping[str, dict[str, Any]]) -> None:
        super().__init__(settings)
        self.defaults = dict(defaults)


def flat(settings: Any, path: str = "") -> Recorded:
    """Give every single setting by its path, without those that are not set, or at their default (`Defaulted`).

    Of a list of mappings that have names (filters...) each stands under its name, and the path of the list has their
    order, as that of an `ORDERED` mapping has its own; of any other list of mappings each stands under its number. A
    mapping of which nothing is left stands as an empty one under its path: settings at their defaults are not the same
    as none.
    """
    if isinstance(settings, Recorded):
        return settings
    recorded = Recorded({}, {})
    _record(recorded, settings, path, owner=path)
    return recorded


def _record(recorded: Recorded, value: Any, path: str, *, owner: str) -> None:
    """Add a value; `owner` is the path of what has it as a setting."""
    if isinstance(value, Defaulted):
        _record_defaulted(recorded, value, path, owner=owner)
    elif path in ORDERED and isinstance(value, Mapping):
        recorded[path] = ", ".join(value)
        _record_all(recorded, value, path, owner=path)
    elif isinstance(value, Mapping):
        unset = value and all(inner is None for inner in value.values())
        if not _record_all(recorded, value, path, owner=path) and path and not unset:
            recorded[path] = {}
    elif isinstance(value, Sequence) and value and all(isinstance(entry, Mapping) for entry in value):
        _record_list(recorded, value, path)
    elif value is not None:
        recorded[path] = value


def _record_all(recorded: Recorded, values: Mapping[str, Any], path: str, *, owner: str) -> bool:
    """Add what a mapping holds, and say whether anything was left to add."""
    before = len(recorded)
    for key, value in values.items():
        _record(recorded, value, sys.intern(f"{path}.{key}".lstrip(".")), owner=owner)
    return len(recorded) > before


def _record_defaulted(recorded: Recorded, found: Defaulted, path: str, *, owner: str) -> None:
    default = flat(found.default, path)
    recorded.defaults.setdefault(owner, {}).update({key: value for key, value in default.items() if value != {}})
    if found.value == found.default:
        return
    if not isinstance(found.value, Mapping):
        recorded[path] = found.value  # None as well
    elif not _record_all(recorded, found.value, path, owner=owner):
        recorded[path] = {}


def _record_list(recorded: Recorded, entries: Sequence[Mapping[str, Any]], path: str) -> None:
    names = [_value(entry.get("name")) for entry in entries]
    if not all(names) or len(set(names)) < len(names):
        for i, entry in enumerate(entries):
            _record(recorded, entry, f"{path}[{i}]", owner=path)
        return
    recorded[path] = ", ".join(names)
    for name, entry in zip(names, entries, strict=True):
        place = f"{path}.{name}"
        _record_all(recorded, {**entry, "name": None}, place, owner=place)


def _value(found: Any) -> Any:
    return found.value if isinstance(found, Defaulted) else found


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Name every setting of two flat mappings that differs, with its old and new value.

    What is at its default shows it, as far as one of the two is a `Recorded`, which knows it.
    """
    known: dict[str, dict[str, Any]] = {}
    for owner, defaults in (pair for each in (old, new) for pair in getattr(each, "defaults", {}).items()):
        known.setdefault(owner, {}).update(defaults)
    old, new = _filled(old, known), _filled(new, known)
    paths = [path for path in dict.fromkeys([*old, *new]) if old.get(path) != new.get(path)]
    return [f"{path}: {_shown(old.get(path))} -> {_shown(new.get(path))}" for path in paths]


def _filled(record: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Add the defaults of what a record has."""
    defaults = [values for owner, values in known.items() if _has(record, owner)]
    filled = {path: value for path, value in record.items() if value != {} or path not in known}
    return filled | {path: value for each in defaults for path, value in each.items() if path not in filled}


def _has(record: Mapping[str, Any], owner: str) -> bool:
    """Say whether there are settings at a path: it may be that all are at their default."""
    if not owner or owner in record or any(path.startswith(f"{owner}.") for path in record):
        return True
    listed, _, name = owner.rpartition(".")
    return name in str(record.get(listed, "")).split(", ")


def _shown(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return cut(text)


def cut(text: str) -> str:
    """Cut a text that is too long to show."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
