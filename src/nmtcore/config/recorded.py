"""Records of settings by path, without those at their default, and the differences between two records."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from nmtcore.config.defaults import Defaulted

MAX_SHOWN = 100
"""Maximum number of characters of a value in a message."""

SAME_SETTINGS = "the same settings, recorded in another way"
"""Message about two different records of the same settings, if an older version wrote one of them."""

ORDERED = ("components", "transforms")
"""Paths of mappings whose order matters."""


class SettingsRecord(dict[str, Any]):
    """Settings by path, without those at their default.

    `defaults` holds the defaults by path, for each path of settings that have defaults.
    """

    def __init__(self, settings: Mapping[str, Any], defaults: Mapping[str, dict[str, Any]]) -> None:
        super().__init__(settings)
        self.defaults = dict(defaults)


def flatten_settings(settings: Any, path: str = "") -> SettingsRecord:
    """Return every setting by its path, without those that are None or at their default (`Defaulted`).

    In a list of mappings with unique names (such as filters), each mapping is recorded under its name, and the path of
    the list holds their order; the same holds for an `ORDERED` mapping. In any other list of mappings, each is recorded
    under its number. A mapping with no setting left is recorded as an empty mapping, because settings at their defaults
    differ from no settings.
    """
    if isinstance(settings, SettingsRecord):
        return settings
    record = SettingsRecord({}, {})
    _record(record, settings, path, owner=path)
    return record


def _record(record: SettingsRecord, value: Any, path: str, *, owner: str) -> None:
    """Add a value to the record; `owner` is the path of the settings that contain it."""
    if isinstance(value, Defaulted):
        _record_defaulted(record, value, path, owner=owner)
    elif path in ORDERED and isinstance(value, Mapping):
        record[path] = ", ".join(value)
        _record_all(record, value, path, owner=path)
    elif isinstance(value, Mapping):
        unset = value and all(inner is None for inner in value.values())
        if not _record_all(record, value, path, owner=path) and path and not unset:
            record[path] = {}
    elif isinstance(value, Sequence) and value and all(isinstance(entry, Mapping) for entry in value):
        _record_list(record, value, path)
    elif value is not None:
        record[path] = value


def _record_all(record: SettingsRecord, values: Mapping[str, Any], path: str, *, owner: str) -> bool:
    """Add the values of a mapping; return whether any was added."""
    before = len(record)
    for key, value in values.items():
        _record(record, value, sys.intern(f"{path}.{key}".lstrip(".")), owner=owner)
    return len(record) > before


def _record_defaulted(record: SettingsRecord, defaulted: Defaulted, path: str, *, owner: str) -> None:
    default = flatten_settings(defaulted.default, path)
    record.defaults.setdefault(owner, {}).update({key: value for key, value in default.items() if value != {}})
    if defaulted.value == defaulted.default:
        return
    if not isinstance(defaulted.value, Mapping):
        record[path] = defaulted.value  # may be None
    elif not _record_all(record, defaulted.value, path, owner=owner):
        record[path] = {}


def _record_list(record: SettingsRecord, entries: Sequence[Mapping[str, Any]], path: str) -> None:
    names = [_unwrap(entry.get("name")) for entry in entries]
    if not all(names) or len(set(names)) < len(names):
        for i, entry in enumerate(entries):
            _record(record, entry, f"{path}[{i}]", owner=path)
        return
    record[path] = ", ".join(names)
    for name, entry in zip(names, entries, strict=True):
        entry_path = f"{path}.{name}"
        _record_all(record, {**entry, "name": None}, entry_path, owner=entry_path)


def _unwrap(value: Any) -> Any:
    return value.value if isinstance(value, Defaulted) else value


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Describe every setting that differs between two flat mappings, with its old and new value.

    A setting at its default is shown with the default if at least one mapping is a `SettingsRecord`, which holds it.
    """
    defaults: dict[str, dict[str, Any]] = {}
    for record in (old, new):
        for owner, values in getattr(record, "defaults", {}).items():
            defaults.setdefault(owner, {}).update(values)
    old, new = _with_defaults_of(old, defaults), _with_defaults_of(new, defaults)
    paths = [path for path in dict.fromkeys([*old, *new]) if old.get(path) != new.get(path)]
    return [f"{path}: {_shorten_value(old.get(path))} -> {_shorten_value(new.get(path))}" for path in paths]


def _with_defaults_of(record: Mapping[str, Any], defaults: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Add the defaults of all settings that a record has."""
    present = [values for owner, values in defaults.items() if _has(record, owner)]
    filled = {path: value for path, value in record.items() if value != {} or path not in defaults}
    return filled | {path: value for values in present for path, value in values.items() if path not in filled}


def _has(record: Mapping[str, Any], owner: str) -> bool:
    """Return whether a record has settings at a path, even if all of them are at their default."""
    if not owner or owner in record or any(path.startswith(f"{owner}.") for path in record):
        return True
    listed, _, name = owner.rpartition(".")
    return name in str(record.get(listed, "")).split(", ")


def _shorten_value(value: Any) -> str:
    return shorten("nothing" if value is None else json.dumps(value, ensure_ascii=False))


def shorten(text: str) -> str:
    """Shorten a text to `MAX_SHOWN` characters."""
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
