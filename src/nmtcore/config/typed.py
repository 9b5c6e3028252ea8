"""Settings from the plain values of YAML or JSON, and back. Every mistake is a sentence; all are reported at once."""

import dataclasses
import difflib
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from nmtcore.errors import UserError, joined_by_or, quoted, shortened

T = TypeVar("T")

ONE_OF = "?"
"""Label of each choice of a union, in the places of mistakes."""

OF_MACHINE = {"machine": True}
"""Metadata of fields that change how something is computed and not what; config.yaml has them (`MachineSettings`)."""

SENTENCE = "sentence"
"""Type of mistakes whose message is a sentence already."""

_SYNONYMS = {"gpu": "cuda", "cuda": "cuda"}
"""Valid names for other words in small letters, without a colon and number (`gpu:0`)."""

_EXPECTED = {
    "int": "a whole number",
    "float": "a number",
    "finite": "a finite number",
    "string": "a string",
    "bool": "true or false",
    "tuple": "a list",
    "dict": "keys and values",
    "dataclass": "keys and values",
}
"""What a value should be, by the first word of the type of a mistake."""

_ARE = ("is", "are")

_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


MOST_NAMED = 30
"""Up to so many valid names are listed if none resembles a wrong one."""


def nearest(name: str, valid: Iterable[str]) -> str:
    """Write a sentence with the valid names that resemble `name`; if none does, with all, or three of many."""
    valid = sorted(map(str, valid))
    name = str(name)[:200]
    meant = _SYNONYMS.get(name.lower().partition(":")[0])
    close = [meant] if meant in valid else difflib.get_close_matches(name, valid, n=3, cutoff=0.6)
    if close:
        return f"Did you mean {joined_by_or(close)}?"
    if len(valid) > MOST_NAMED:
        return f"Valid are {', '.join(valid[:3])} and {len(valid) - 3} others."
    return f"Valid are: {', '.join(valid)}." if valid else "There are no valid names."


def choose(name: str, valid: Iterable[str], *, noun: str, where: str) -> str:
    """Return `name` if it is valid; otherwise raise a `UserError` that names the most similar valid names."""
    valid = list(valid)
    if name not in valid:
        raise UserError(f"{where}: unknown {noun} {quoted(str(name))}. {nearest(name, valid)}")
    return name


def build(cls: type[T], values: Mapping[str, Any], *, where: str) -> T:
    """Build settings from a mapping; `where` names the file and the key for error messages."""
    return convert(values, cls, where=where)


def convert(value: Any, hint: Any, *, where: str) -> Any:
    """Check a value against a type hint; convert lists to tuples and mappings to settings.

    Raises a `UserError` with a line for each mistake. `where` ends with the name of the value.
    """
    try:
        return adapter(hint).validate_python(value)
    except ValidationError as error:
        raise UserError("\n".join(sentences(error, where=where))) from error


@functools.cache
def adapter(hint: Any) -> TypeAdapter:
    """Return what checks values of a type hint."""
    return TypeAdapter(hint)


def sentences(error: ValidationError, *, where: str = "") -> list[str]:
    """Write each mistake that pydantic found as a sentence with its place; of a union, only the deepest one."""
    faults: dict[tuple, Mapping[str, Any]] = {}
    missing: dict[tuple, list[str]] = {}
    for fault in error.errors(include_url=False):
        place = fault["loc"]
        if fault["type"] == "missing" and isinstance(place[-1], str):
            missing.setdefault(place[:-1], []).append(f"'{place[-1]}'")
            continue
        of_union = place[: place.index(ONE_OF)] if ONE_OF in place else (*place, fault["type"], fault["msg"])
        if of_union not in faults or len(place) > len(faults[of_union]["loc"]):
            faults[of_union] = fault
    absent = [_after(_place(where, place), missing_keys(keys)) for place, keys in missing.items()]
    return absent + [_sentence(fault, where) for fault in faults.values()]


def missing_keys(keys: Sequence[str]) -> str:
    """Say that keys are missing; they are quoted already."""
    return f"the key{'s' * (len(keys) > 1)} {', '.join(keys)} {_ARE[len(keys) > 1]} missing."


def _sentence(fault: Mapping[str, Any], where: str) -> str:
    fault_type, context, value = fault["type"], fault.get("ctx", {}), fault["input"]
    here = _place(where, fault["loc"])
    if fault_type == SENTENCE:
        return _after(here, fault["msg"])
    if fault_type == "value_error":
        text = str(context["error"])
        return _after(here, text if text.endswith(("?", ".")) else f"{text}.")
    if fault_type == "literal_error":
        valid = re.findall("'(.*?)'", context["expected"])
        return _after(here, f"{quoted(str(value))} is not valid. {nearest(str(value), valid)}")
    for key, words in _BOUNDS.items():
        if key in context:
            bound = int(context[key]) if context[key] == int(context[key]) else context[key]
            return f"{here} must be {words} {bound}, not {shown_value(value)}."
    if fault_type == "too_long":
        return _after(here, f"expected {context['max_length']} values, found {context['actual_length']}.")
    if fault_type == "missing":
        return _after(here, "a value is missing.")
    expected = _EXPECTED.get(fault_type.partition("_")[0])
    return _after(here, f"expected {expected}, found {shown_value(value)}." if expected else f"{fault['msg']}.")


def _after(place: str, sentence: str) -> str:
    return f"{place}: {sentence}" if place else sentence


def _place(where: str, parts: Iterable[Any]) -> str:
    """Name a place below `where`: keys follow colons, and positions of lists are in brackets.

    Of a mistake in the key of a mapping, the place is the mapping.
    """
    names = [part for part in parts if part != ONE_OF]
    for part in names[:-2] if names[-1:] == ["[key]"] else names:
        where = f"{where}[{part}]" if isinstance(part, int) else _after(where, str(part))
    return where


def explain_keys(classes: Iterable[type], values: Any, check: Callable[[Any], Any]) -> Any:
    """Check values for settings classes; a mistake about an unknown key names the keys of the classes.

    `REMOVED` of a class, if there is one, says of keys of earlier versions what to do instead.
    """
    try:
        return check(values)
    except ValidationError as error:
        keys = {field.name for cls in classes for field in dataclasses.fields(cls) if field.init}
        removed = {key: text for cls in classes for key, text in getattr(cls, "REMOVED", {}).items()}
        machine = {field.name for cls in classes for field in dataclasses.fields(cls) if field.metadata == OF_MACHINE}
        removed |= {key: f"Write `machine: {{{key}: ...}}` in config.yaml." for key in machine}
        raise ValidationError.from_exception_data(
            "settings", list(mistakes(error, keys=keys, removed=removed))
        ) from None


def mistakes(
    error: ValidationError, *, place: tuple = (), keys: Iterable[str] = (), removed: Mapping[str, str] | None = None
) -> Iterator[InitErrorDetails]:
    """Yield the mistakes of an error, to be raised again, below a place; unknown keys are explained by the `keys`."""
    for fault in error.errors(include_url=False):
        *outer, key = fault["loc"] or ("",)
        if fault["type"] in ("unexpected_keyword_argument", "extra_forbidden") and not outer:
            instead = (removed or {}).get(key)
            gone = f"the key '{key}' is gone. {instead}"
            yield mistake(gone if instead else f"unknown key {quoted(str(key))}. {nearest(key, keys)}", place)
        elif fault["type"] == SENTENCE:
            yield mistake(fault["msg"], (*place, *fault["loc"]))
        else:
            details = InitErrorDetails(type=fault["type"], loc=(*place, *fault["loc"]), input=fault["input"])
            yield InitErrorDetails(**details, ctx=fault["ctx"]) if "ctx" in fault else details


def mistake(sentence: str, place: tuple = ()) -> InitErrorDetails:
    """Make a mistake of a sentence."""
    return InitErrorDetails(type=PydanticCustomError(SENTENCE, sentence), loc=place, input=None)


def shown_value(value: Any) -> str:
    """Return a value of a configuration file as a message shows it: at most 80 characters."""
    return "nothing" if value is None else shortened(repr(value))


def plain(settings: Any) -> Any:
    """Turn settings back into the dictionaries, lists and plain values of JSON and YAML."""
    if dataclasses.is_dataclass(settings):
        return {f.name: plain(getattr(settings, f.name)) for f in dataclasses.fields(settings) if f.init}
    if isinstance(settings, Mapping):
        return {key: plain(value) for key, value in settings.items()}
    if isinstance(settings, tuple | list):
        return [plain(value) for value in settings]
    return settings


def default_of(field: dataclasses.Field) -> Any:
    """Return the default of a field; `MISSING` if there is none."""
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def changed(settings: Any) -> Any:
    """Return the plain values of settings that are not at their defaults, without those of the machine.

    A job whose parameters these are does not run again for a new setting whose default means "as before". Nor does it
    for a changed default: raise the versions of the stages that it affects (`config/versions.py`).
    """
    if dataclasses.is_dataclass(settings):
        return {
            field.name: changed(value)
            for field in dataclasses.fields(settings)
            if field.init and not field.metadata and (value := getattr(settings, field.name)) != default_of(field)
        }
    if isinstance(settings, Mapping):
        return {key: changed(value) for key, value in settings.items()}
    return [changed(value) for value in settings] if isinstance(settings, tuple | list) else settings


def merge(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings: later values win, inner mappings are merged, lists are replaced."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
                value = merge(merged[key], value)
            merged[key] = value
    return merged
