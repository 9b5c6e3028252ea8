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

IN_CONFIG = "the key '{key}' is set in config.yaml, as `machine: {{{key}: ...}}`."
"""What is said of a key that only config.yaml can have; so do the `ELSEWHERE` of a class of its other keys."""

SENTENCE, UNKNOWN_KEY = SENTENCES = ("sentence", "unknown key")
"""Types of mistakes whose message is a sentence already; an unknown key is the last part of its place."""

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

_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}

Given = Callable[[Sequence[str]], list[tuple[Any, str]]]
"""Returns the values that files give a place, each with its file; the one that counts last."""

MOST_NAMED = 30
"""Up to so many valid names are listed if none resembles a wrong one."""


def nearest(name: str, valid: Iterable[str]) -> str:
    """Write a sentence with the valid names that resemble `name`; if none does, with all, or three of many."""
    valid, name = sorted(map(str, valid)), str(name)[:200]
    is_gpu = "cuda" in valid and re.match("gpu|cuda", name.lower())
    close = ["cuda"] if is_gpu else difflib.get_close_matches(name, valid, n=3, cutoff=0.6)
    if close:
        return f"Did you mean {joined_by_or(close)}?"
    if len(valid) > MOST_NAMED:
        return f"Valid are {', '.join(valid[:3])} and {len(valid) - 3} others."
    return f"Valid are: {', '.join(valid)}." if valid else "There are no valid names."


def unknown(noun: str, name: object, valid: Iterable[str]) -> str:
    """Write a sentence about an unknown name, with the most similar valid names."""
    return f"unknown {noun} {quoted(str(name))}. {nearest(str(name), valid)}"


def choose(name: str, valid: Iterable[str], *, noun: str, where: str) -> str:
    """Return `name` if it is valid; otherwise raise a `UserError` that names the most similar valid names."""
    valid = list(valid)
    if name not in valid:
        raise UserError(f"{where}: {unknown(noun, name, valid)}")
    return name


def build(hint: Any, value: Any, *, where: str, place: Sequence[str] = (), given: Given = lambda place: []) -> Any:
    """Check a value against a type hint; convert lists to tuples and mappings to settings.

    `where` names the file, and `place` the sections and the key of the value there. If values are merged from several
    files, `given` returns those of a place with their files, the one that counts last. Raises a `UserError` with a line
    for each mistake.
    """
    try:
        return adapter(hint).validate_python(value)
    except ValidationError as error:
        raise UserError("\n".join(_sentences(error, where, tuple(place), given))) from error


@functools.cache
def adapter(hint: Any) -> TypeAdapter:
    """Return what checks values of a type hint."""
    return TypeAdapter(hint)


def _sentences(error: ValidationError, where: str, place: tuple, given: Given) -> list[str]:
    """Write each mistake that pydantic found as a sentence, with file and place; of a union, only the deepest one."""
    faults: dict[tuple, Mapping[str, Any]] = {}
    missing: dict[tuple, list[str]] = {}
    for fault in error.errors(include_url=False):
        here = fault["loc"]
        if fault["type"] == "missing" and isinstance(here[-1], str):
            missing.setdefault(here[:-1], []).append(f"'{here[-1]}'")
            continue
        of_union = here[: here.index(ONE_OF)] if ONE_OF in here else (*here, fault["type"], fault["msg"])
        if of_union not in faults or len(here) > len(faults[of_union]["loc"]):
            faults[of_union] = fault
    sentences = [f"{_place(where, (*place, *here))}: {missing_keys(keys)}" for here, keys in missing.items()]
    for fault in faults.values():
        here, text = fault["loc"], _text(fault)
        set_there = _files_of(fault, (*place, *here), where, given) if fault["type"] == "value_error" else ""
        is_unknown = fault["type"] == UNKNOWN_KEY
        files = [file for value, file in given((*place, *here)) if is_unknown or not isinstance(value, Mapping)]
        ending = text[-1] if text[-1] in ".?" else "."
        shown = _place([where, *files][-1], (*place, *(here[:-1] if is_unknown else here)))
        sentences.append(f"{shown}{text.removesuffix(ending)}{set_there}{ending}")
    return sentences


def _files_of(fault: Mapping[str, Any], place: tuple, where: str, given: Given) -> str:
    """Name the files of the keys that a sentence about several keys names, if they are others than that of `where`."""
    keys = re.findall(r"(?<![\w.'])\w+(?!\w|\.\w|')", str(fault["ctx"]["error"]))
    last = {key: (given((*place, key)) or [({}, "")])[-1] for key in keys}
    others = {key: file for key, (value, file) in last.items() if not isinstance(value, Mapping)}
    shown = "; ".join(f"{key}: {file}" for key, file in others.items() if not where.startswith(file))
    return f" ({shown})" if shown else ""


def missing_keys(keys: Sequence[str]) -> str:
    """Say that keys are missing; they are quoted already."""
    return f"the key{'s' * (len(keys) > 1)} {', '.join(keys)} {'are' if len(keys) > 1 else 'is'} missing."


def _text(fault: Mapping[str, Any]) -> str:
    """Say what is wrong with a value, to be read after its place."""
    fault_type, context, value = fault["type"], fault.get("ctx", {}), fault["input"]
    for key, words in _BOUNDS.items():
        if key in context:
            return f" must be {words} {context[key]:.10g}, not {shown_value(value)}"
    if fault_type in SENTENCES:
        text = fault["msg"]
    elif fault_type == "value_error":
        text = str(context["error"])
    elif fault_type == "literal_error":
        valid = re.findall("'(.*?)'", context["expected"])
        text = f"{quoted(str(value))} is not valid. {nearest(value, valid)}"
    elif fault_type == "too_long":
        text = f"expected {context['max_length']} values, found {context['actual_length']}"
    elif fault_type == "missing":
        text = "a value is missing"
    else:
        expected = _EXPECTED.get(fault_type.partition("_")[0])
        text = f"expected {expected}, found {shown_value(value)}" if expected else fault["msg"]
    return f": {text}"


def _place(where: str, parts: Iterable[Any]) -> str:
    """Name a place below `where`: keys follow colons, and positions of lists are in brackets.

    Of a mistake in the key of a mapping, the place is the mapping.
    """
    names = [part for part in parts if part != ONE_OF]
    for part in names[:-2] if names[-1:] == ["[key]"] else names:
        where += f"[{part}]" if isinstance(part, int) else f": {part}"
    return where


def explain_keys(classes: Iterable[type], values: Any, check: Callable[[Any], Any]) -> Any:
    """Check values for settings classes; a mistake about an unknown key names the keys of the classes."""
    try:
        return check(values)
    except ValidationError as error:
        fields = [field for cls in classes for field in dataclasses.fields(cls) if field.init]
        names = {field.name for field in fields if not field.metadata}
        elsewhere = {field.name: IN_CONFIG for field in fields if field.metadata}
        for cls in classes:
            elsewhere |= getattr(cls, "ELSEWHERE", {})
        faults = []
        for fault in mistakes(error):
            key, *inner = fault["loc"] or ("",)
            if fault["type"] in ("unexpected_keyword_argument", "extra_forbidden") and not inner:
                said = elsewhere[key].format(key=key) if key in elsewhere else unknown("key", key, names)
                fault = mistake(said, (key,), UNKNOWN_KEY)
            faults.append(fault)
        raise ValidationError.from_exception_data("settings", faults) from None


def mistakes(error: ValidationError, *, place: tuple = ()) -> Iterator[InitErrorDetails]:
    """Yield the mistakes of an error, to be raised again, below a place."""
    for fault in error.errors(include_url=False):
        loc = (*place, *fault["loc"])
        if fault["type"] in SENTENCES:
            yield mistake(fault["msg"], loc, fault["type"])
        else:
            details = InitErrorDetails(type=fault["type"], loc=loc, input=fault["input"])
            yield InitErrorDetails(**details, ctx=fault["ctx"]) if "ctx" in fault else details


def mistake(sentence: str, place: tuple = (), sentence_type: str = SENTENCE) -> InitErrorDetails:
    """Make a mistake of a sentence."""
    return InitErrorDetails(type=PydanticCustomError(sentence_type, sentence), loc=place, input=None)


def shown_value(value: Any) -> str:
    """Return a value of a configuration file as a message shows it: at most 80 characters."""
    return "nothing" if value is None else shortened(repr(value))


def plain(settings: Any, *, keeps: Callable[[dataclasses.Field, Any], bool] = lambda field, value: True) -> Any:
    """Turn settings back into the dictionaries, lists and plain values of JSON and YAML.

    `keeps` says whether a field with a value is kept.
    """
    if dataclasses.is_dataclass(settings):
        values = ((field, getattr(settings, field.name)) for field in dataclasses.fields(settings) if field.init)
        return {field.name: plain(value, keeps=keeps) for field, value in values if keeps(field, value)}
    if isinstance(settings, Mapping):
        return {key: plain(value, keeps=keeps) for key, value in settings.items()}
    return [plain(value, keeps=keeps) for value in settings] if isinstance(settings, tuple | list) else settings


def default_of(field: dataclasses.Field) -> Any:
    """Return the default of a field; `MISSING` if there is none."""
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def changed(settings: Any) -> Any:
    """Return the plain values of settings that are not at their defaults, without those of the machine.

    A job whose parameters these are does not run again for a new setting whose default means "as before". Nor does it
    for a changed default: raise the versions of the stages that it affects (`config/versions.py`).
    """
    return plain(settings, keeps=lambda field, value: not field.metadata and value != default_of(field))
