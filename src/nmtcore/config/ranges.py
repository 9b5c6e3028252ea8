"""Settings classes, which pydantic checks: ranges of numbers, parts of settings, short forms and descriptions."""

import ast
import dataclasses
import functools
import inspect
import itertools
import textwrap
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeVar, Union, dataclass_transform

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticKnownError, core_schema

from nmtcore.config.typed import ONE_OF, explain_keys

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


class PartOf(tuple[type, ...]):
    """Marks a mapping of some of the settings of a class: `Annotated[dict[str, Any], PartOf(TransformerSettings)]`.

    Of several classes, it may have the settings of any. Types and ranges are checked, but not what depends on several
    keys.
    """

    def __new__(cls, *classes: type) -> "PartOf":
        """Mark settings of any of the classes."""
        return super().__new__(cls, classes)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema of a mapping, none of whose keys is required."""
        fields = {
            field.name: core_schema.typed_dict_field(
                handler.generate_schema(_in_part(hints_of(cls)[field.name])), required=False
            )
            for cls in reversed(self)
            for field in dataclasses.fields(cls)
            if field.init and not field.metadata
        }
        keys = core_schema.typed_dict_schema(
            refuse_booleans(fields),
            extra_behavior="forbid",
            config={"allow_inf_nan": False},
            metadata={"pydantic_js_functions": [functools.partial(described, self)]},
        )
        return core_schema.no_info_wrap_validator_function(functools.partial(explain_keys, self), keys)


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


def _in_part(hint: Any) -> Any:
    """Return the type hint of a field in a part: settings within settings are parts, too, and so are those by name."""
    if typing.get_origin(hint) is dict:
        key, value = typing.get_args(hint)
        return dict[key, _in_part(value)]
    choices = typing.get_args(hint) if typing.get_origin(hint) in (Union, types.UnionType) else (hint,)
    classes = [choice for choice in choices if dataclasses.is_dataclass(choice)]
    if len(classes) != 1:
        return hint
    part = Annotated[dict[str, Any], PartOf(*classes)]
    return part if hint is classes[0] else part | None


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
