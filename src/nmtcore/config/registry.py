"""What a configuration chooses by name: components, transforms, annotators, filters, formats."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from nmtcore.config.typed import build, choose, nearest, plain
from nmtcore.errors import UserError

T = TypeVar("T")


class Registry(Mapping[str, type[T]]):
    """Settings classes by name. The module `{package}.{name}` implements each; it is imported where it is used."""

    def __init__(self, classes: Mapping[str, type[T]], *, what: str, package: str, key: str = "name") -> None:
        self._classes = dict(classes)
        self.what = what
        """What messages call one of them."""
        self.package = package
        self.key = key
        """The key of an entry that holds the name."""

    def __getitem__(self, name: str) -> type[T]:
        return self._classes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def find(self, name: str, *, where: str) -> type[T]:
        """Give the class of a name; an unknown one is a `UserError`."""
        return self[choose(name, self, what=self.what, where=where)]

    def build(self, entry: Any, *, where: str) -> T:
        """Make the settings of an entry `{name: ..., key: value...}`; mistakes are a `UserError`."""
        if not isinstance(entry, Mapping) or self.key not in entry:
            raise UserError(
                f"{where}: expected {{{self.key}: the name of a {self.what}, its settings}}; found {entry!r}."
            )
        name = str(entry[self.key])
        values = {key: value for key, value in entry.items() if key != self.key}
        return build(self.find(name, where=where), values, where=f"{where}: {name}")

    def build_named(self, name: str, entry: Mapping[str, Any], *, where: str) -> T:
        """Make the settings of an entry `name: {kind: ..., key: value...}`; without its `key`, the kind is the name."""
        kind = str(entry.get(self.key, name))
        if kind not in self:
            hint = "" if self.key in entry else f" One with a name of its own says its `{self.key}`."
            raise UserError(f"{where}: unknown {self.what} '{kind}'. {nearest(kind, self)}{hint}")
        return build(self[kind], {k: v for k, v in entry.items() if k != self.key}, where=f"{where}: {name}")

    def name_of(self, settings: T) -> str:
        """Give the name under which the class of `settings` is registered."""
        return next(name for name, cls in self.items() if cls is type(settings))

    def entry_of(self, settings: T) -> dict[str, Any]:
        """Write settings as the entry that `build` reads."""
        return {self.key: self.name_of(settings), **plain(settings)}

    def module(self, name: str) -> ModuleType:
        """Import the module that implements what is registered under `name`."""
        return import_module(f"{self.package}.{name}")
