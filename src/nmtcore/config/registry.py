"""Registries of the settings classes that a configuration chooses by name: components, transforms, filters..."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from nmtcore.config.own_code import (
    has_own,
    own_checksum,
    own_class,
    own_faults,
    own_member,
    own_module,
    own_name,
    own_names,
    own_path,
)
from nmtcore.config.typed import build, choose, nearest, plain, shown_value
from nmtcore.errors import UserError, quoted

T = TypeVar("T")


CODE = "code"
"""The key of an entry that holds the checksum of the user's own code."""


class Registry(Mapping[str, type[T]]):
    """Settings classes by name. The module `{package}.{name}` implements each and is imported on first use.

    `modules` has the names of modules that implement several, by the names of the classes.

    With `own_folder`, files of the user's own in this folder (`config.own_code`) are entries too: each has both the
    settings, derived from `base`, and what implements them. `removed` says of names of earlier versions what to use
    instead.
    """

    def __init__(
        self,
        classes: Mapping[str, type[T]],
        *,
        noun: str,
        package: str,
        modules: Mapping[str, str] | None = None,
        key: str = "name",
        own_folder: str = "",
        base: type[T] | None = None,
        removed: Mapping[str, str] | None = None,
    ) -> None:
        self._classes, self._removed = dict(classes), removed or {}
        self._own_folder, self._base = own_folder, base
        self.noun = noun
        """The word for an entry in messages, such as "component"."""
        self.package, self._modules = package, modules or {}
        self.key = key
        """The key in an entry that names the class."""

    def __getitem__(self, name: str) -> type[T]:
        return self._own_class(name) if self._is_own(name) else self._classes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._classes or self._is_own(name)

    def __iter__(self) -> Iterator[str]:
        yield from self._classes
        if self._own_folder:
            yield from (name for name in own_names(self._own_folder) if name not in self._classes)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _own_class(self, name: str) -> type[T]:
        """Return a settings class of the user's own. Raises `UserError` if one of its settings is a key of entries."""
        own = own_class(self._own_folder, name, self._base)
        for field in fields(own):
            if field.name in (self.key, CODE):
                raise UserError(
                    f"{own_path(self._own_folder, name)}: a setting cannot be called '{field.name}', which is a key of "
                    f"every {self.noun}: rename it."
                )
        return own

    def _is_own(self, name: object) -> bool:
        """Say whether a name is that of a file of the user's own."""
        return (
            bool(self._own_folder)
            and isinstance(name, str)
            and name not in self._classes
            and has_own(self._own_folder, name)
        )

    @property
    def own_faults(self) -> list[str]:
        """One sentence for each file of the user's own that is not read because of its name."""
        return own_faults(self._own_folder, self._classes) if self._own_folder else []

    def find(self, name: str, *, where: str) -> type[T]:
        """Return the class registered under a name. Raises `UserError` if there is none."""
        if name in self._removed and name not in self:
            raise UserError(f"{where}: the {self.noun} '{name}' is gone. {self._removed[name]}")
        return self[choose(name, self, noun=self.noun, where=where)]

    def build(self, entry: Any, *, where: str) -> T:
        """Build the settings of an entry `{name: ..., key: value...}`. Raises `UserError` if they are not valid."""
        if not isinstance(entry, Mapping) or self.key not in entry:
            raise UserError(
                f"{where}: expected {{{self.key}: name of a {self.noun}, settings}}, found {shown_value(entry)}."
            )
        name = str(entry[self.key])
        return build(self.find(name, where=where), self._values(name, entry), where=f"{where}: {name}")

    def build_named(self, name: str, entry: Mapping[str, Any], *, where: str) -> T:
        """Build the settings of an entry `name: {kind: ..., key: value...}`; `kind` defaults to the name.

        Raises `UserError` if the settings are not valid.
        """
        class_name = str(entry.get(self.key, name))
        if class_name not in self:
            hint = "" if self.key in entry else f" An entry with another name needs the key `{self.key}`."
            raise UserError(f"{where}: unknown {self.noun} {quoted(class_name)}. {nearest(class_name, self)}{hint}")
        return build(self[class_name], self._values(class_name, entry), where=f"{where}: {name}")

    def _values(self, name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings in an entry."""
        others = (self.key, CODE) if self._is_own(name) else (self.key,)
        return {key: value for key, value in entry.items() if key not in others}

    def name_of(self, settings: T) -> str:
        """Return the name under which the class of `settings` is registered."""
        own = own_name(type(settings))
        return own if own is not None else next(name for name, cls in self._classes.items() if cls is type(settings))

    def entry_of(self, settings: T) -> dict[str, Any]:
        """Return the entry that `build` reads these settings from; of the user's own code, it has the checksum."""
        name = self.name_of(settings)
        code = {CODE: own_checksum(self._own_folder, name)} if self._is_own(name) else {}
        return {self.key: name, **code, **plain(settings)}

    def module(self, name: str) -> ModuleType:
        """Import the module that implements the class registered under `name`."""
        if self._is_own(name):
            return own_module(self._own_folder, name)
        return import_module(f"{self.package}.{self._modules.get(name, name)}")

    def member(self, name: str, member: str) -> Any:
        """Return what the module of a name calls `member`. Raises `UserError` if a file of the user's own lacks it."""
        return own_member(self._own_folder, name, member) if self._is_own(name) else getattr(self.module(name), member)
