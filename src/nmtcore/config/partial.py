"""Forms of settings in files: parts, which are checked when a file is read and built when layers are merged, and short
forms, which are expanded before they are checked."""

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Union

from pydantic_core import core_schema

from nmtcore.config.ranges import described, hints_of, refuse_booleans
from nmtcore.config.typed import explain_keys


@dataclass(frozen=True, init=False)
class PartOf:
    """Marks a mapping of some of the settings of a class: `Annotated[dict[str, Any], PartOf(TransformerSettings)]`.

    Of several classes, it may have the settings of any. Types and ranges are checked, but not what depends on several
    keys.
    """

    classes: tuple[type, ...]

    def __init__(self, *classes: type) -> None:
        object.__setattr__(self, "classes", classes)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema of a mapping, none of whose keys is required."""
        fields = {
            field.name: core_schema.typed_dict_field(
                handler.generate_schema(_in_part(hints_of(cls)[field.name])), required=False
            )
            for cls in reversed(self.classes)
            for field in dataclasses.fields(cls)
            if field.init and not field.metadata
        }
        keys = core_schema.typed_dict_schema(
            refuse_booleans(fields),
            extra_behavior="forbid",
            config={"allow_inf_nan": False},
            metadata={"pydantic_js_functions": [functools.partial(described, self.classes)]},
        )
        return core_schema.no_info_wrap_validator_function(functools.partial(explain_keys, self.classes), keys)


@dataclass(frozen=True)
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
    return _ShortForm(lambda hint: hints_of(hint)[key], lambda own: {key: own} if isinstance(own, str) else own)


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
