"""Registries of the settings classes that a configuration chooses by name: components, transforms, filters..."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any, TypeVar

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from nmtcore.config.own_code import (
    has_own,
    own_checksum,
    own_class,
    own_faults,
    own_member,
    own_name,
    own_names,
)
from nmtcore.config.ranges import PartOf
from nmtcore.config.typed import SENTENCE, adapter, build, choose, mistake, mistakes, plain, shown_value, unknown
from nmtcore.errors import UserError

T = TypeVar("T")

CODE = "code"
"""The key of an entry that holds the checksum of the user's own code."""


class Registry(Mapping[str, type[T]]):
    """Settings classes by name, each with the class that it configures: `MODULE.CLASS` in `package`, or empty if none.

    With `own_folder`, files of the user's own in this folder (`config.own_code`) are entries too: each has both the
    settings, derived from `base`, and a class that is called like them, without `Settings`.
    """

    def __init__(
        self,
        entries: Mapping[str, tuple[type[T], str]],
        *,
        noun: str,
        package: str = "",
        key: str = "name",
        own_folder: str = "",
        base: type[T] | None = None,
    ) -> None:
        self._classes = {name: cls for name, (cls, _) in entries.items()}
        self._configured = {name: f"{package}.{path}" for name, (_, path) in entries.items()}
        self._own_folder, self._base = own_folder, base
        self.noun = noun
        """The word for an entry in messages, such as "component"."""
        self.key = key
        """The key in an entry that names the class."""

    __eq__, __hash__ = object.__eq__, object.__hash__

    def __getitem__(self, name: str) -> type[T]:
        if self._is_own(name):
            return own_class(self._own_folder, name, self._base, keys=(self.key, CODE))
        return self._classes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._classes or self._is_own(name)

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys([*self._classes, *(own_names(self._own_folder) if self._own_folder else ())])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _is_own(self, name: object) -> bool:
        """Say whether a name is that of a file of the user's own."""
        return bool(self._own_folder) and name not in self._classes and has_own(self._own_folder, str(name))

    @property
    def own_faults(self) -> list[str]:
        """One sentence for each file of the user's own that is not read because of its name."""
        return own_faults(self._own_folder, self._classes)

    def find(self, name: str, *, where: str) -> type[T]:
        """Return the class registered under a name. Raises `UserError` if there is none."""
        return self[choose(name, self, noun=self.noun, where=where)]

    def build(self, entry: Any, *, where: str) -> T:
        """Build the settings of an entry `{name: ..., key: value...}`. Raises `UserError` if they are not valid."""
        return build(Annotated[Any, self], entry, where=where)

    def build_named(self, name: str, entry: Mapping[str, Any], *, where: str) -> T:
        """Build the settings of an entry `name: {kind: ..., key: value...}`; `kind` defaults to the name.

        Raises `UserError` if the settings are not valid.
        """
        if name not in self and self.key not in entry:
            hint = f"An entry with another name needs the key `{self.key}`."
            raise UserError(f"{where}: {unknown(self.noun, name, self)} {hint}")
        return self.build({self.key: name, **entry}, where=f"{where}: {name}")

    def _from_entry(self, entry: Any) -> T:
        """Build the settings of an entry, or of a name alone; raise pydantic's errors."""
        if dataclasses.is_dataclass(entry):
            return entry
        if isinstance(entry, str):
            entry = {self.key: entry}
        if not isinstance(entry, Mapping) or self.key not in entry:
            expected = f"{{{self.key}: name of a {self.noun}, settings}}"
            raise PydanticCustomError(SENTENCE, f"expected {expected}, found {shown_value(entry)}.")
        name = str(entry[self.key])
        if name not in self:
            raise PydanticCustomError(SENTENCE, unknown(self.noun, name, self))
        keys = (self.key, CODE) if self._is_own(name) else (self.key,)
        return adapter(self[name]).validate_python({key: entry[key] for key in entry if key not in keys})

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Let `Annotated[FilterSettings, FILTERS]` be the type hint of an entry."""
        return core_schema.no_info_plain_validator_function(self._from_entry)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """Return the JSON Schema of a name alone, of an entry with the keys of a class, or of changes of an entry."""
        entries = [self.entry_schema(name, handler, required=[self.key]) for name in self]
        changes = {"type": "object", "not": {"required": [self.key]}}
        return {"anyOf": [{"enum": list(self)}, *entries, changes]}

    def entry_schema(self, name: str, handler: Any, *, required: list[str]) -> dict[str, Any]:
        """Return the JSON Schema of an entry with the class of a name."""
        schema = handler(adapter(Annotated[dict[str, Any], PartOf(self[name])]).core_schema)
        named = {self.key: {"const": name}} if required else {self.key: {"enum": list(self)}}
        return {**schema, "properties": {**named, **schema["properties"]}, "required": required}

    def name_of(self, settings: T) -> str:
        """Return the name under which the class of `settings` is registered."""
        names = (name for name, cls in self._classes.items() if cls is type(settings))
        return own_name(type(settings)) or next(names)

    def entry_of(self, settings: T, *, values: Callable[[T], dict[str, Any]] = plain) -> dict[str, Any]:
        """Return the entry that `build` reads these settings from; of the user's own code, it has the checksum.

        `values` is `changed` to leave out settings at their defaults.
        """
        name = self.name_of(settings)
        code = {CODE: own_checksum(self._own_folder, name)} if self._is_own(name) else {}
        return {self.key: name, **code, **values(settings)}

    def configured(self, name: str) -> type:
        """Import the class that the settings of a name configure. Raises `UserError` if an own file lacks it."""
        if self._is_own(name):
            return own_member(self._own_folder, name, self[name].__name__.removesuffix("Settings"))
        module, _, class_name = self._configured[name].rpartition(".")
        return getattr(import_module(module), class_name)


@dataclasses.dataclass(frozen=True)
class PartsOf:
    """Marks a mapping of entries by name, each with some of the settings of a class of a registry, or null."""

    registry: Registry

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema of entries, whose class is that of the `kind` or the name."""
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """Return the JSON Schema of entries by name; what an entry with another name may have depends on its `kind`."""
        named = {name: self.registry.entry_schema(name, handler, required=[]) for name in self.registry}
        return {
            "type": "object",
            "properties": {name: {"anyOf": [entry, {"type": "null"}]} for name, entry in named.items()},
            "additionalProperties": {"type": ["object", "null"], "properties": {}},
        }

    def _check(self, entries: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raise pydantic's errors about all entries. One whose class only an ancestor names is not checked."""
        faults: list[InitErrorDetails] = []
        for name, entry in entries.items():
            part = dict(entry or {})
            class_name = str(part.pop(self.registry.key, name))
            if class_name in self.registry:
                try:
                    adapter(Annotated[dict[str, Any], PartOf(self.registry[class_name])]).validate_python(part)
                except ValidationError as error:
                    faults += mistakes(error, place=(name,))
            elif entry and self.registry.key in entry:
                faults.append(mistake(unknown(self.registry.noun, class_name, self.registry), (name,)))
        if faults:
            raise ValidationError.from_exception_data("entries", faults)
        return entries
