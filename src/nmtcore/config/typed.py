"""Settings classes, which pydantic checks, from the plain values of YAML or JSON and back.

Every mistake is a sentence; all are reported at once.
"""

import ast
import dataclasses
import difflib
import functools
import inspect
import itertools
import re
import textwrap
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar, dataclass_transform

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass
from pydantic_core import InitErrorDetails, PydanticCustomError, PydanticKnownError, core_schema

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


class LinedKey(str):
    """A key of a YAML file, which knows its line."""

    def __new__(cls, text: str, line: int | None = None) -> "LinedKey":
        """Give a text its line, counted from 1."""
        key = super().__new__(cls, text)
        key.line = line
        return key


class GivenValue(NamedTuple):
    """What a file says of a setting."""

    value: Any
    """Plain value."""
    where: str
    """The file; of an entry also its name."""
    line: int | None = None
    """Line in the file, counted from 1."""

    @property
    def shown(self) -> str:
        """The file with the line."""
        return at_line(self.where, self.line)


Given = Callable[[Sequence[str]], list[GivenValue]]
"""Returns what files say of a place; the one that counts is the last."""


def at_line(where: str, line: int | None) -> str:
    """Add a line to a place such as `FILE` or `FILE: NAME`."""
    file, colon, rest = where.partition(": ")
    return where if line is None else f"{file}:{line}{colon}{rest}"


def line_of(values: Any, place: Iterable[Any]) -> int | None:
    """Return the line of the last key of a place that a file's plain values have; None if it is not known."""
    line = None
    for part in place:
        if isinstance(values, Mapping) and part in values:
            line = next(getattr(key, "line", None) for key in values if key == part) or line
        elif not (isinstance(values, list) and isinstance(part, int) and part < len(values)):
            break
        values = values[part]
    return line


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
        raise UserError("\n".join(_sentences(error, value, where, tuple(place), given))) from error


@functools.cache
def adapter(hint: Any) -> TypeAdapter:
    """Return what checks values of a type hint."""
    return TypeAdapter(hint)


def _sentences(error: ValidationError, value: Any, where: str, place: tuple, given: Given) -> list[str]:
    """Write each mistake that pydantic found in a value as a sentence, with its file, line and place.

    Of a union, only the deepest mistake counts.
    """
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
        set_there = _files_of(fault, (*place, *here), given) if fault["type"] == "value_error" else ""
        is_unknown = fault["type"] == UNKNOWN_KEY
        sources = [one for one in given((*place, *here)) if is_unknown or not isinstance(one.value, Mapping)]
        source = [GivenValue(None, where), *sources][-1]
        line = line_of(value, (part for part in here if part != ONE_OF)) or source.line
        ending = text[-1] if text[-1] in ".?" else "."
        shown = _place(at_line(source.where, line), (*place, *(here[:-1] if is_unknown else here)))
        sentences.append(f"{shown}{text.removesuffix(ending)}{set_there}{ending}")
    return sentences


def _files_of(fault: Mapping[str, Any], place: tuple, given: Given) -> str:
    """Name the files and lines of the keys that a sentence about several keys names."""
    keys = re.findall(r"(?<![\w.'])\w+(?!\w|\.\w|')", str(fault["ctx"]["error"]))
    last = {key: sources[-1] for key in dict.fromkeys(keys) if (sources := given((*place, key)))}
    shown = [f"{key}: {source.shown}" for key, source in last.items() if not isinstance(source.value, Mapping)]
    return f" ({'; '.join(shown)})" if shown else ""


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
    for a changed default: raise the versions of the stages that it affects (`config/stages.py`).
    """
    return plain(settings, keeps=lambda field, value: not field.metadata and value != default_of(field))


T = TypeVar("T")

_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)


def Range(
    *, least: float | None = None, most: float | None = None, above: float | None = None, below: float | None = None
) -> Any:
    """Return the mark of a range of numbers; `above` and `below` are bounds that are not allowed themselves."""
    return Field(ge=least, le=most, gt=above, lt=below)


Count = Annotated[int, Range(least=1)]
"""A number of things, at least one."""
Width = Annotated[int, Range(least=1, most=1_000_000)]
"""The size of a layer or a vector, far beyond any model's."""
LayerCount = Annotated[int, Range(least=1, most=1000)]
"""The number of layers of a stack; Wang et al. (2022, DeepNet) trained a transformer of 1,000 layers in all."""
Distance = Annotated[int, Range(least=1, most=1000)]
"""A distance between two tokens; a sentence has at most 1,000 subwords."""
Amount = Annotated[int, Range(least=0)]
"""A number of things, perhaps none."""
Index = Annotated[int, Range(least=0)]
"""A position, counted from 0."""
HeadCount = Annotated[int, Range(least=1, most=1024)]
"""The number of heads of a layer."""
HeadIndex = Annotated[int, Range(least=-1024, most=1023)]
"""A head of a layer, counted from 0; a negative one counts from the end."""
Beam = Annotated[int, Range(least=1, most=1000)]
"""The number of live hypotheses per sentence. Each needs its own decoder state, so thousands do not fit in memory."""
Seed = Annotated[int, Range(least=0, most=2**32 - 1)]
"""A seed that torch, NumPy and Python's `random` all take."""
Positive = Annotated[float, Range(above=0)]
"""Any number above 0."""
NonNegative = Annotated[float, Range(least=0)]
"""Any number from 0 on."""
Probability = Annotated[float, Range(least=0, most=1)]
"""A probability."""
Fraction = Annotated[float, Range(least=0, below=1)]
"""A probability or a rate of decay that cannot be 1 (dropout, smoothed mass, betas)."""
LearningRate = Annotated[float, Range(above=0, most=1)]
"""A learning rate."""
Exponent = Annotated[float, Range(least=-10, most=10)]
"""The exponent of a length penalty; a negative one prefers short hypotheses."""

hints_of = functools.cache(functools.partial(typing.get_type_hints, include_extras=True))
"""The type hints of a class, with the ranges in them."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def settings_class(cls: type[T]) -> type[T]:
    """Make a class of settings: a frozen dataclass with keyword-only fields, whose values must fit their hints.

    They are checked whenever an object is made: from a file or the command line (`config.typed.build`, whose errors are
    sentences), or in code, where a mistake is pydantic's `ValueError`. The class's own `__post_init__` runs afterwards.
    """
    cls.__get_pydantic_core_schema__ = classmethod(_schema)
    cls.__get_pydantic_json_schema__ = classmethod(lambda owner, schema, handler: described((owner,), schema, handler))
    return dataclass(frozen=True, kw_only=True, config=_CONFIG)(cls)


def _schema(cls: type, source: type, handler: Callable[[type], Any]) -> Any:
    schema = refuse_booleans(handler(source))
    ref = schema.pop("ref", None)  # other classes that have settings of this class refer to the wrapped schema
    return core_schema.no_info_wrap_validator_function(functools.partial(explain_keys, (cls,)), schema, ref=ref)


def described(classes: Iterable[type], schema: Any, handler: Any) -> dict[str, Any]:
    """Return the JSON Schema of settings, with the descriptions that stand below the fields of their classes."""
    made = handler.resolve_ref_schema(handler(schema))
    texts = {name: text for cls in classes for name, text in descriptions(cls).items()}
    for name, values in made.get("properties", {}).items():
        values.pop("title", None)
        made["properties"][name] = {"description": texts[name], **values} if name in texts else values
    return made


def refuse_booleans(schema: Any) -> Any:
    """Let numbers of a core schema be no booleans, which pydantic reads as 1 and 0.

    The choices of a union are labelled, so that of a value that fits none of them only one mistake is reported.
    """
    if isinstance(schema, list):
        return [refuse_booleans(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "union":
        choices = [choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"]]
        return {**schema, "choices": [(refuse_booleans(choice), ONE_OF) for choice in choices]}
    made = {key: refuse_booleans(inner) for key, inner in schema.items()}
    if schema.get("type") in ("int", "float"):
        return core_schema.no_info_before_validator_function(functools.partial(_number, schema["type"]), made)
    return made


def _number(number_type: str, value: Any) -> Any:
    if isinstance(value, bool):
        raise PydanticKnownError(f"{number_type}_type")
    return value


@dataclasses.dataclass(frozen=True)
class _ShortForm:
    """Marks values that have a short form, which is expanded before they are checked."""

    short: Callable[[Any], Any]
    """Gives the type hint of the short form of values with a type hint."""
    expand: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema of both forms."""
        full, short = handler(source), handler.generate_schema(self.short(source))
        return core_schema.no_info_before_validator_function(
            self.expand, full, json_schema_input_schema=core_schema.union_schema([short, full])
        )


def Short(key: str) -> _ShortForm:
    """Mark settings for which the value of `key` may stand alone: `Annotated[PartSettings, Short("corpus")]`."""
    return _ShortForm(lambda hint: hints_of(hint)[key], lambda value: {key: value} if isinstance(value, str) else value)


def Listed() -> _ShortForm:
    """Mark a list in whose place a single value may stand."""
    return _ShortForm(
        lambda hint: typing.get_args(hint)[0],
        lambda value: [value] if isinstance(value, str | int | float | Mapping) else value,
    )


def ForAll(names: Sequence[str]) -> _ShortForm:
    """Mark settings by name in whose place the settings of all `names` may stand."""

    def expand(value: Any) -> Any:
        for_all = isinstance(value, str) or (isinstance(value, Mapping) and not set(value) & set(names))
        return dict.fromkeys(names, value) if for_all else value

    return _ShortForm(lambda hint: typing.get_args(hint)[1], expand)


@functools.cache
def descriptions(cls: type) -> dict[str, str]:
    """Return the description of each field of a settings class that has one, its own or a base's, in one line."""
    texts: dict[str, str] = {}
    for base in filter(dataclasses.is_dataclass, reversed(cls.__mro__)):
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        for statement, below in itertools.pairwise(definition.body):
            match statement, below:
                case ast.AnnAssign(target=ast.Name(name)), ast.Expr(value=ast.Constant(value=str(text))):
                    texts[name] = " ".join(text.split())
    return {field.name: texts[field.name] for field in dataclasses.fields(cls) if field.name in texts}


def summary(cls: type) -> str:
    """Return the docstring of a class in one line."""
    return " ".join((cls.__doc__ or "").split())
