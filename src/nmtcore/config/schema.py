"""JSON Schemas (draft 7) of settings classes, for editors that complete and check configuration files."""

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, TypeAlias, Union

from nmtcore.config.defaults import default_of
from nmtcore.config.descriptions import descriptions, summary
from nmtcore.config.own_code import OneOf
from nmtcore.config.partial import PartOf, PartOfOne, PartsOf
from nmtcore.config.ranges import Range, hints_of
from nmtcore.config.registry import Registry
from nmtcore.config.typed import plain
from nmtcore.layout import NAME

Schema: TypeAlias = dict[str, Any]

PLAIN = {str: {"type": "string"}, int: {"type": "integer"}, bool: {"type": "boolean"}}

NUMBER = {
    "type": ["number", "string"],
    "pattern": r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$",
    "patternErrorMessage": "expected a number",
}
"""A number. 1e-9 (without a point) is a string in YAML 1.1, which has no bounds here, but a number in YAML 1.2."""

NULL = {"type": "null"}

BOUNDS = {"least": "minimum", "most": "maximum", "above": "exclusiveMinimum", "below": "exclusiveMaximum"}


class Schemas:
    """Schemas of settings classes, which refer to one another as the definitions of one schema.

    A part of settings, which will be merged with others, has the same keys, but none is required.
    """

    def __init__(
        self,
        *,
        registries: Mapping[type, Registry] | None = None,
        fields: Mapping[tuple[type, str], Callable[["Schemas", bool], Schema]] | None = None,
        rules: Mapping[type, Callable[["Schemas", bool], Schema]] | None = None,
        defaults_of_parts: bool = False,
    ) -> None:
        self.definitions: dict[str, Schema] = {}
        self._registries = dict(registries or {})
        """The registry of the subclasses of a class."""
        self._fields = dict(fields or {})
        """Functions for the schemas of fields that have short forms in files; they get these schemas and `part`."""
        self._rules = dict(rules or {})
        """Functions for further keywords in the schemas of classes; they get these schemas and `part`."""
        self._defaults_of_parts = defaults_of_parts
        """Whether missing keys of a part are at their default, because the file is the lowest layer."""

    def of_class(self, cls: type, *, part: bool = False, extra: Mapping[str, Schema] | None = None) -> Schema:
        """Refer to the schema of a class; `extra` has the schemas of keys that are no settings of the class."""
        if cls in self._registries:
            return self.of_entry(self._registries[cls], part=part)
        name = f"{cls.__name__}{'.part' * part}"
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = self.properties_of(cls, part=part, extra=extra)
        return {"$ref": f"#/definitions/{name}"}

    def properties_of(
        self, cls: type, *, part: bool = False, extra: Mapping[str, Schema] | None = None, without: Iterable[str] = ()
    ) -> Schema:
        """Return the schema of a class itself; it has no keys for the fields in `without`."""
        fields = [field for field in dataclasses.fields(cls) if field.init and field.name not in without]
        properties = {field.name: self._of_field(cls, field, part=part) for field in fields}
        required = [field.name for field in fields if default_of(field) is dataclasses.MISSING]
        schema: Schema = {"description": summary(cls), "type": "object"}
        schema |= {"properties": {**(extra or {}), **properties}, "additionalProperties": False}
        schema |= {"required": required} if required and not part else {}
        return schema | (self._rules[cls](self, part) if cls in self._rules else {})

    def _of_field(self, cls: type, field: dataclasses.Field, *, part: bool) -> Schema:
        short_form = self._fields.get((cls, field.name))
        schema = short_form(self, part) if short_form else self.of_hint(hints_of(cls)[field.name], part=part)
        schema = {"description": descriptions(cls).get(field.name, ""), **schema}
        default = plain(default_of(field))
        stated = default not in (dataclasses.MISSING, None, "") and not isinstance(default, dict)
        return schema | ({"default": default} if stated and (self._defaults_of_parts or not part) else {})

    def of_hint(self, hint: Any, *, part: bool = False) -> Schema:
        """Return the schema of values of a type hint."""
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if hint is Any:
            return {}
        if origin is Annotated:
            return self._of_annotated(arguments[0], arguments[1:], part=part)
        if origin in (Union, types.UnionType):
            choices = [self.of_hint(choice, part=part) for choice in arguments if choice is not type(None)]
            schema = choices[0] if len(choices) == 1 else {"anyOf": choices}
            return nullable(schema) if type(None) in arguments else schema
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin is tuple:
            return self._of_tuple(arguments)
        if origin is dict:
            return self._of_dict(*arguments, part=part)
        if dataclasses.is_dataclass(hint):
            return self.of_class(hint, part=part)
        return dict(NUMBER if hint is float else PLAIN[hint])

    def _of_annotated(self, hint: Any, extras: Iterable[Any], *, part: bool) -> Schema:
        schema = self.of_hint(hint, part=part)
        for extra in extras:
            if isinstance(extra, Range):
                bounds = {key: getattr(extra, name) for name, key in BOUNDS.items()}
                schema |= {key: bound for key, bound in bounds.items() if bound is not None}
            elif isinstance(extra, OneOf):
                schema = {"enum": extra.valid}
            elif isinstance(extra, PartOf):
                schema = self.of_class(extra.cls, part=True)
            elif isinstance(extra, PartOfOne):
                schema = {"anyOf": [self.of_class(cls, part=True) for cls in extra.registry.values()]}
            elif isinstance(extra, PartsOf):
                _, entry = typing.get_args(hint)
                schema = self.of_named_entries(extra.registry, null=type(None) in typing.get_args(entry))
        return schema

    def _of_tuple(self, arguments: tuple) -> Schema:
        """Lists are replaced, not merged, so their items are never parts."""
        if arguments[-1] is Ellipsis:
            return {"type": "array", "items": self.of_hint(arguments[0])}
        items = [self.of_hint(item) for item in arguments]
        return {"type": "array", "items": items, "minItems": len(items), "maxItems": len(items)}

    def _of_dict(self, key: Any, value: Any, *, part: bool) -> Schema:
        schema = self.of_hint(value, part=part)
        if typing.get_origin(key) is Literal:
            properties = dict.fromkeys(typing.get_args(key), schema)
            return {"type": "object", "properties": properties, "additionalProperties": False}
        return {"type": "object", "additionalProperties": schema}

    def of_entry(self, registry: Registry, *, part: bool = False) -> Schema:
        """Refer to the schema of entries `{name: ..., key: value...}`, whose keys depend on the registered name.

        A part may lack the name, which another layer has, and then have any key that some registered class has.
        """
        name = f"{registry.noun}{'.part' * part}"
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = self._entry(registry, part=part)
        return {"$ref": f"#/definitions/{name}"}

    def _entry(self, registry: Registry, *, part: bool) -> Schema:
        named = {"required": [registry.key]}
        choices: list[Schema] = [
            {
                "if": {"properties": {registry.key: {"const": name}}, **named},
                "then": self.of_registered(registry, name, part=part),
            }
            for name in registry
        ]
        if part:
            keys = {registry.key, *(field.name for cls in registry.values() for field in dataclasses.fields(cls))}
            choices.append({"if": {"not": named}, "then": {"propertyNames": {"enum": sorted(keys)}}})
        properties = {registry.key: name_of_registered(registry)}
        return {"type": "object", "properties": properties, "allOf": choices} | ({} if part else named)

    def of_registered(self, registry: Registry, name: str, *, part: bool) -> Schema:
        """Refer to the schema of an entry with the settings that are registered under a name."""
        return self.of_class(registry[name], part=part, extra={registry.key: name_of_registered(registry)})

    def of_named_entries(self, registry: Registry, *, null: bool) -> Schema:
        """Return the schema of entries `name: {key: value...}`; the registered name is the entry's or its `kind`."""
        other, has_key = self.of_entry(registry, part=True), {"required": [registry.key]}
        named = {
            name: {"if": has_key, "then": other, "else": self.of_registered(registry, name, part=True)}
            for name in registry
        }
        properties = {name: {"description": summary(registry[name]), **schema} for name, schema in named.items()}
        if null:
            properties, other = {name: nullable(schema) for name, schema in properties.items()}, nullable(other)
        return {
            "type": "object",
            "propertyNames": {"pattern": f"^{NAME}$"},
            "properties": properties,
            "additionalProperties": other,
        }


def name_of_registered(registry: Registry) -> Schema:
    """Return the schema of the key that holds a registered name."""
    return {"description": f"Name of the {registry.noun}.", "enum": list(registry)}


def nullable(schema: Schema) -> Schema:
    """Return the schema of values that may be null too."""
    if "enum" in schema:
        return {**schema, "enum": list(dict.fromkeys([*schema["enum"], None]))}
    if "type" in schema:
        types_ = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return {**schema, "type": list(dict.fromkeys([*types_, "null"]))}
    described = {key: schema[key] for key in ("description", "default") if key in schema}
    rest = {key: schema[key] for key in schema if key not in described}
    choices = rest.get("anyOf", [rest])
    return {**described, "anyOf": [choice for choice in choices if choice != NULL] + [NULL]}
