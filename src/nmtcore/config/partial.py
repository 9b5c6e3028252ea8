"""Forms of settings in files: parts, which are checked when a file is read and built when layers are merged, and short
forms, which pydantic expands before it checks them."""

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Union

from pydantic_core import core_schema

from nmtcore.config.ranges import described, hints_of, strict_where_yaml_misleads
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
            strict_where_yaml_misleads(fields),
            extra_behavior="forbid",
            config={"allow_inf_nan": False},
            metadata={"pydantic_js_functions": [functools.partial(described, self.classes)]},
        )
        return core_schema.no_info_wrap_validator_function(functools.partial(explain_keys, self.classes), keys)


@dataclass(frozen=True)
class Short:
    """Marks settings for which the value of `key` may stand alone: `Annotated[PartSettings, Short("corpus")]`."""

    key: str

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema of the settings or the text."""
        return _expanded(
            handler(source),
            lambda value: {self.key: value} if isinstance(value, str) else value,
            handler.generate_schema(hints_of(source)[self.key]),
        )


@dataclass(frozen=True)
class Listed:
    """Marks a list in whose place a single value may stand."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema of the list or the value."""
        item = handler.generate_schema(typing.get_args(source)[0])
        return _expanded(handler(source), lambda value: [value] if isinstance(value, _SINGLE) else value, item)


_SINGLE = (str, int, float, Mapping)


@dataclass(frozen=True)
class ForAll:
    """Marks settings by name in whose place the settings of all `names` may stand."""

    names: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema of the settings by name or of those of all."""

        def expand(value: Any) -> Any:
            for_all = isinstance(value, str) or (isinstance(value, Mapping) and not set(value) & set(self.names))
            return dict.fromkeys(self.names, value) if for_all else value

        return _expanded(handler(source), expand, handler.generate_schema(typing.get_args(source)[1]))


def _expanded(schema: Any, expand: Callable[[Any], Any], short: Any) -> Any:
    return core_schema.no_info_before_validator_function(
        expand, schema, json_schema_input_schema=core_schema.union_schema([short, schema])
    )


def _in_part(hint: Any) -> Any:
    """Return the type hint of a field in a part: settings within settings are parts, too, and so are those by name."""
    if typing.get_origin(hint) is dict:
        key, value = typing.get_args(hint)
        return dict[key, _in_part(value)]
    inner = settings_class_in(hint)
    if inner is None:
        return hint
    part = Annotated[dict[str, Any], PartOf(inner)]
    return part if hint is inner else part | None


def settings_class_in(hint: Any) -> type | None:
    """Return the settings class of a type hint that is one, or one or None; None if there is none."""
    choices = typing.get_args(hint) if typing.get_origin(hint) in (Union, types.UnionType) else (hint,)
    classes = [choice for choice in choices if dataclasses.is_dataclass(choice)]
    return classes[0] if len(classes) == 1 else None
