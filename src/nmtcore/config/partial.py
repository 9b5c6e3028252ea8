"""Parts of settings: mappings in a file that are checked when it is read, and built when layers are merged."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nmtcore.config.ranges import hints_of
from nmtcore.config.registry import Registry
from nmtcore.config.typed import Check, check_keys, convert, settings_class_in


@dataclass(frozen=True)
class PartOf(Check):
    """Marks a mapping of some of the settings of a class: `Annotated[dict[str, Any], PartOf(TransformerSettings)]`."""

    cls: type

    def check(self, values: Mapping[str, Any], *, where: str) -> None:
        """Raise a `UserError` at an unknown key, a wrong type or a number outside its range."""
        check_part(self.cls, values, where=where)


@dataclass(frozen=True)
class PartsOf(Check):
    """Marks a mapping of entries by name, each with some of the settings of a class of a registry, or null."""

    registry: Registry

    def check(self, values: Mapping[str, Any], *, where: str) -> None:
        """Raise a `UserError` at a mistake in an entry. An entry whose class only an ancestor names is not checked."""
        for name, entry in values.items():
            if entry is None:
                continue
            registered = str(entry.get(self.registry.key, name))
            if self.registry.key in entry:
                self.registry.find(registered, where=f"{where}: {name}")
            if registered in self.registry:
                part = {key: value for key, value in entry.items() if key != self.registry.key}
                check_part(self.registry[registered], part, where=f"{where}: {name}")


def check_part(cls: type, values: Mapping[str, Any], *, where: str) -> None:
    """Check some of the settings of `cls`: their keys, types and ranges, but not dependencies between keys."""
    check_keys(cls, values, where=where)
    for key, value in values.items():
        hint, where_key = hints_of(cls)[key], f"{where}: {key}"
        inner = settings_class_in(hint)
        if inner and isinstance(value, Mapping):
            check_part(inner, value, where=where_key)
        else:
            convert(value, hint, where=where_key)
