"""From plain mappings (YAML, JSON) to frozen, typed settings, and back; every mistake is a sentence."""

import contextlib
import dataclasses
import difflib
import functools
import math
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeVar, Union

from nmtcore.errors import UserError

T = TypeVar("T")

_SYNONYMS = {"gpu": "cuda", "cuda": "cuda"}
"""What users may call a valid name that is spelt differently, in small letters and without what follows a colon."""


def nearest(name: str, valid: Iterable[str]) -> str:
    """Say which valid names are nearest to `name`, or list them all when none is near."""
    valid = sorted(map(str, valid))
    meant = _SYNONYMS.get(str(name).lower().partition(":")[0])
    close = [meant] if meant in valid else difflib.get_close_matches(str(name), valid, n=3, cutoff=0.6)
    if close:
        return f"Did you mean {' or '.join(close)}?"
    return f"Valid are: {', '.join(valid)}." if valid else "Nothing is valid here."


def choose(name: str, valid: Iterable[str], *, noun: str, where: str) -> str:
    """Return `name` if it is valid, else raise a sentence that names the nearest valid ones."""
    valid = list(valid)
    if name not in valid:
        raise UserError(f"{where}: unknown {noun} '{name}'. {nearest(name, valid)}")
    return name


_hints = functools.cache(typing.get_type_hints)


def build(cls: type[T], values: Mapping[str, Any], *, where: str) -> T:
    """Make a `cls` (a dataclass) from a mapping; `where` names the file and the key for error messages."""
    if not isinstance(values, Mapping):
        raise UserError(f"{where}: expected keys and values, found {_shown(values)}.")
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}
    hints = _hints(cls)
    for key in values:
        if key not in fields:
            raise UserError(f"{where}: unknown key '{key}'. {nearest(key, fields)}")
    missing = [
        name
        for name, field in fields.items()
        if name not in values and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        raise UserError(
            f"{where}: the key{'s' * (len(missing) > 1)} {names} {'is' if len(missing) == 1 else 'are'} missing."
        )
    converted = {key: convert(value, hints[key], where=f"{where}: {key}") for key, value in values.items()}
    try:
        return cls(**converted)
    except ValueError as error:
        raise UserError(f"{where}: {error}") from error


def convert(value: Any, hint: Any, *, where: str) -> Any:
    """Check `value` against a type hint and bring lists to tuples and mappings to dataclasses."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin in (Union, types.UnionType):
        return _convert_union(value, arguments, where)
    if origin is Literal:
        if value not in arguments:
            raise UserError(f"{where}: '{value}' is not valid. {nearest(str(value), map(str, arguments))}")
        return value
    if origin is tuple:
        return _convert_tuple(value, arguments, where)
    if origin is dict:
        if not isinstance(value, Mapping):
            raise UserError(f"{where}: expected keys and values, found {_shown(value)}.")
        return {str(k): convert(v, arguments[1], where=f"{where}.{k}") for k, v in value.items()}
    if dataclasses.is_dataclass(hint):
        return value if isinstance(value, hint) else build(hint, value, where=where)
    return _convert_plain(value, hint, where)


def _convert_union(value: Any, choices: tuple, where: str) -> Any:
    if value is None and type(None) in choices:
        return None
    rest = [choice for choice in choices if choice is not type(None)]
    faults = []
    for choice in rest:
        try:
            return convert(value, choice, where=where)
        except UserError as error:
            faults.append(error)
    raise faults[-1] if len(faults) == 1 else max(faults, key=lambda fault: len(str(fault)))


def _convert_tuple(value: Any, arguments: tuple, where: str) -> tuple:
    if isinstance(value, str) or not isinstance(value, Iterable) or isinstance(value, Mapping):
        raise UserError(f"{where}: expected a list, found {_shown(value)}.")
    items = list(value)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(convert(v, arguments[0], where=f"{where}[{i}]") for i, v in enumerate(items))
    if len(items) != len(arguments):
        raise UserError(f"{where}: expected {len(arguments)} values, found {len(items)}.")
    return tuple(convert(v, a, where=where) for v, a in zip(items, arguments, strict=True))


def _convert_plain(value: Any, hint: type, where: str) -> Any:
    if hint is float and isinstance(value, str):
        # YAML reads 1e-9 (without a point) as a string.
        with contextlib.suppress(ValueError):
            value = float(value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if hint is float and isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"{where}: expected a finite number, found {_shown(value)}.")
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise UserError(f"{where}: expected {_NAMES.get(hint, hint.__name__)}, found {_shown(value)}.")
    return value


_NAMES = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


def _shown(value: Any) -> str:
    return "nothing" if value is None else repr(value)


def plain(settings: Any) -> Any:
    """Turn settings back into dictionaries, lists and plain values, as JSON and YAML hold them."""
    if dataclasses.is_dataclass(settings):
        return {f.name: plain(getattr(settings, f.name)) for f in dataclasses.fields(settings) if f.init}
    if isinstance(settings, Mapping):
        return {key: plain(value) for key, value in settings.items()}
    if isinstance(settings, tuple | list):
        return [plain(value) for value in settings]
    return settings


def merge(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Lay mappings over one another: later ones win, mappings inside are merged, lists are replaced."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
                value = merge(merged[key], value)
            merged[key] = value
    return merged
