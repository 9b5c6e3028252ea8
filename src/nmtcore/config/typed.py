"""Conversion of plain mappings (YAML, JSON) to frozen, typed settings and back; every mistake is a sentence."""

import contextlib
import dataclasses
import difflib
import math
import reprlib
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, TypeVar, Union

from nmtcore.config.ranges import check_ranges, hints_of
from nmtcore.errors import UserError, joined_by_or, quoted, shortened

T = TypeVar("T")

_SYNONYMS = {"gpu": "cuda", "cuda": "cuda"}
"""Valid names for other words in small letters, without a colon and number (`gpu:0`)."""


class Check:
    """Base class of checks that are part of a type hint: `Annotated[dict[str, Any], PartOf(TransformerSettings)]`."""

    def check(self, value: Any, *, where: str) -> None:
        """Raise a `UserError` if the value is wrong."""
        raise NotImplementedError


def nearest(name: str, valid: Iterable[str]) -> str:
    """Write a sentence with the valid names that resemble `name`, or with all valid names if none does."""
    valid = sorted(map(str, valid))
    name = str(name)[:200]
    meant = _SYNONYMS.get(str(name).lower().partition(":")[0])
    close = [meant] if meant in valid else difflib.get_close_matches(str(name), valid, n=3, cutoff=0.6)
    if close:
        return f"Did you mean {joined_by_or(close)}?"
    return f"Valid are: {', '.join(valid)}." if valid else "There are no valid names."


def choose(name: str, valid: Iterable[str], *, noun: str, where: str) -> str:
    """Return `name` if it is valid; otherwise raise a `UserError` that names the most similar valid names."""
    valid = list(valid)
    if name not in valid:
        raise UserError(f"{where}: unknown {noun} {quoted(str(name))}. {nearest(name, valid)}")
    return name


def check_keys(cls: type, values: Mapping[str, Any], *, where: str) -> None:
    """Raise a `UserError` unless `values` is a mapping whose keys are all fields of `cls`.

    `cls.REMOVED`, if there is one, says of keys of earlier versions what to do instead.
    """
    if not isinstance(values, Mapping):
        raise UserError(f"{where}: expected keys and values, found {shown_value(values)}.")
    fields = [field.name for field in dataclasses.fields(cls) if field.init]
    for key in values:
        if instead := getattr(cls, "REMOVED", {}).get(key):
            raise UserError(f"{where}: the key '{key}' is gone. {instead}")
        if key not in fields:
            raise UserError(f"{where}: unknown key {quoted(str(key))}. {nearest(key, fields)}")


def build(cls: type[T], values: Mapping[str, Any], *, where: str) -> T:
    """Build a `cls` (a dataclass) from a mapping; `where` names the file and the key for error messages."""
    check_keys(cls, values, where=where)
    missing = [
        field.name
        for field in dataclasses.fields(cls)
        if field.init
        and field.name not in values
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        raise UserError(
            f"{where}: the key{'s' * (len(missing) > 1)} {names} {'is' if len(missing) == 1 else 'are'} missing."
        )
    hints = hints_of(cls)
    converted = {key: _convert(value, hints[key], where=f"{where}: {key}") for key, value in values.items()}
    try:
        return cls(**converted)
    except ValueError as error:
        raise UserError(f"{where}: {str(error).rstrip('.')}.") from error


def convert(value: Any, hint: Any, *, where: str) -> Any:
    """Check a value against a type hint with ranges; convert lists to tuples and mappings to dataclasses.

    `where` ends with the name of the value: `mine.yaml: training: max_updates`.
    """
    converted = _convert(value, hint, where=where)
    outside, _, name = where.rpartition(": ")
    try:
        check_ranges(converted, hint, name=name)
    except ValueError as error:
        raise UserError(f"{outside}: {error}.") from error
    return converted


def _convert(value: Any, hint: Any, *, where: str) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin is Annotated:
        converted = _convert(value, arguments[0], where=where)
        for extra in hint.__metadata__:
            if isinstance(extra, Check):
                extra.check(converted, where=where)
        return converted
    if origin in (Union, types.UnionType):
        return _convert_union(value, arguments, where)
    if origin is Literal:
        if value not in arguments:
            raise UserError(f"{where}: {quoted(str(value))} is not valid. {nearest(str(value), map(str, arguments))}")
        return value
    if origin is tuple:
        return _convert_tuple(value, arguments, where)
    if origin is dict:
        if not isinstance(value, Mapping):
            raise UserError(f"{where}: expected keys and values, found {shown_value(value)}.")
        key_hint, value_hint = arguments
        values = {str(key): _convert(inner, value_hint, where=f"{where}.{key}") for key, inner in value.items()}
        return {_convert(key, key_hint, where=where): inner for key, inner in values.items()}
    if dataclasses.is_dataclass(hint):
        return value if isinstance(value, hint) else build(hint, value, where=where)
    if typing.is_typeddict(hint):
        return _convert_typed_dict(value, hint, where)
    return _convert_plain(value, hint, where)


def _convert_union(value: Any, choices: tuple, where: str) -> Any:
    if value is None and type(None) in choices:
        return None
    rest = [choice for choice in choices if choice is not type(None)]
    faults = []
    for choice in rest:
        try:
            return _convert(value, choice, where=where)
        except UserError as error:
            faults.append(error)
    raise faults[-1] if len(faults) == 1 else max(faults, key=lambda fault: len(str(fault)))


def _convert_tuple(value: Any, arguments: tuple, where: str) -> tuple:
    if isinstance(value, str) or not isinstance(value, Iterable) or isinstance(value, Mapping):
        raise UserError(f"{where}: expected a list, found {shown_value(value)}.")
    items = list(value)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(_convert(v, arguments[0], where=f"{where}[{i}]") for i, v in enumerate(items))
    if len(items) != len(arguments):
        raise UserError(f"{where}: expected {len(arguments)} values, found {len(items)}.")
    return tuple(_convert(v, a, where=where) for v, a in zip(items, arguments, strict=True))


def _convert_typed_dict(value: Any, hint: Any, where: str) -> dict[str, Any]:
    """Convert the values of a mapping whose keys have types; keys of which the type says nothing stay as they are."""
    if not isinstance(value, Mapping):
        raise UserError(f"{where}: expected keys and values, found {shown_value(value)}.")
    if missing := sorted(hint.__required_keys__ - value.keys()):
        raise UserError(f"{where}: the key '{missing[0]}' is missing.")
    hints = hints_of(hint)
    return {key: _convert(inner, hints.get(key, Any), where=f"{where}.{key}") for key, inner in value.items()}


def _convert_plain(value: Any, hint: type, where: str) -> Any:
    if hint is float and isinstance(value, str):
        # YAML 1.1 reads 1e-9 (without a point) as a string.
        with contextlib.suppress(ValueError):
            value = float(value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            value = float(value)
    if hint is float and isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"{where}: expected a finite number, found {shown_value(value)}.")
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise UserError(f"{where}: expected {_NAMES.get(hint, hint.__name__)}, found {shown_value(value)}.")
    return value


_NAMES = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}


_SHOW = reprlib.Repr()
_SHOW.maxlevel, _SHOW.maxstring, _SHOW.maxother, _SHOW.maxlong = 3, 80, 80, 80


def shown_value(value: Any) -> str:
    """Return a value of a configuration file as a message shows it: at most 80 characters."""
    try:
        return "nothing" if value is None else shortened(_SHOW.repr(value))
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return "a number of thousands of digits"


def settings_class_in(hint: Any) -> type | None:
    """Return the settings class that a value of this type hint is built into; None if there is none."""
    choices = typing.get_args(hint) if typing.get_origin(hint) in (Union, types.UnionType) else (hint,)
    return next((choice for choice in choices if dataclasses.is_dataclass(choice)), None)


def plain(settings: Any) -> Any:
    """Turn settings back into the dictionaries, lists and plain values of JSON and YAML."""
    if dataclasses.is_dataclass(settings):
        return {f.name: plain(getattr(settings, f.name)) for f in dataclasses.fields(settings) if f.init}
    if isinstance(settings, Mapping):
        return {key: plain(value) for key, value in settings.items()}
    if isinstance(settings, tuple | list):
        return [plain(value) for value in settings]
    return settings


def merge(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings: later values win, inner mappings are merged, lists are replaced."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
                value = merge(merged[key], value)
            merged[key] = value
    return merged
