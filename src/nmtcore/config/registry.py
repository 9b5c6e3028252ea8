"""Registries of the settings classes that a configuration chooses by name: components, transforms, filters..."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from nmtcore.config.typed import build, choose, nearest, plain
from nmtcore.errors import UserError

T = TypeVar("T")


class Registry(Mapping[str, type[T]]):
    """Settings classes by name. The module `{package}.{name}` implements each and is imported on first use."""

    def __init__(self, classes: Mapping[str, type[T]], *, noun: str, package: str, key: str = "name") -> None:
        self._classes = dict(classes)
        self.noun = noun
        """The word for an entry in messages, such as "component"."""
        self.package = package
        self.key = key
        """The key in an entry that names the class."""

    def __getitem__(self, name: str) -> type[T]:
        return self._classes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def find(self, name: str, *, where: str) -> type[T]:
        """Return the class registered under a name. Raises `UserError` if there is none."""
        return self[choose(name, self, noun=self.noun, where=where)]

    def build(self, entry: Any, *, where: str) -> T:
        """Build the settings of an entry `{name: ..., key: value...}`. Raises `UserError` if they are not valid."""
        if not isinstance(entry, Mapping) or self.key not in entry:
            raise UserError(f"{where}: expected {{{self.key}: name of a {self.noun}, settings}}, found {entry!r}.")
        name = str(entry[self.key])
        values = {key: value for key, value in entry.items() if key != self.key}
        return build(self.find(name, where=where), values, where=f"{where}: {name}")

    def build_named(self, name: str, entry: Mapping[str, Any], *, where: str) -> T:
        """Build the settings of an entry `name: {kind: ..., key: value...}`; `kind` defaults to the name.

        Raises `UserError` if the settings are not valid.
        """
        class_name = str(entry.get(self.key, name))
        if class_name not in self:
            hint = "" if self.key in entry else f" An entry with another name needs the key `{self.key}`."
            raise UserError(f"{where}: unknown {self.noun} '{class_name}'. {nearest(class_name, self)}{hint}")
        return build(self[class_name], {k: v for k, v in entry.items() if k != self.key}, where=f"{where}: {name}")

    def name_of(self, settings: T) -> str:
        """Return the name under which the class of `settings` is registered."""
        return next(name for name, cls in self.items() if cls is type(settings))

    def entry_of(self, settings: T) -> dict[str, Any]:
        """Return the entry that `build` reads these settings from."""
        return {self.key: self.name_of(settings), **plain(settings)}

    def module(self, name: str) -> ModuleType:
        """Import the module that implements the class registered under `name`."""
        return import_module(f"{self.package}.{name}")
