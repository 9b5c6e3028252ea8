"""Read the entries of systems from their files. A faulty entry only affects targets that need it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nmtcore.config.external import with_absolute_paths
from nmtcore.config.typed import choose, shown_value
from nmtcore.config.yaml_files import read_yaml
from nmtcore.errors import UserError


@dataclass(frozen=True, kw_only=True)
class SystemEntries:
    """The content of the files in `systems/`."""

    entries: dict[str, tuple[Path, dict[str, Any]]] = field(default_factory=dict)
    """The file and the keys of every readable system, by name."""
    faults: list[str] = field(default_factory=list)
    """One sentence for each file or system that cannot be read."""

    @property
    def external(self) -> list[str]:
        """The names of the systems whose translations come from files."""
        return [name for name, (_, keys) in self.entries.items() if keys.get("external") is not None]

    def check(self, name: str, *, where: str) -> str:
        """Return the name. Raises `UserError` if there is no such system; it also lists the faults."""
        try:
            return choose(name, self.entries, noun="system", where=where)
        except UserError as error:
            if not self.faults:
                raise
            raise UserError(" ".join([str(error), "Not read:", *self.faults])) from error


def read_systems(paths: Iterable[Path], *, pattern: str, reserved: Iterable[str]) -> SystemEntries:
    """Read files of systems, whose names must match `pattern` and must not be `reserved`.

    Files and entries that cannot be read become faults of the result. Raises `UserError` if two files define the same
    system.
    """
    systems = SystemEntries()
    for path in paths:
        try:
            values = read_yaml(path)
        except UserError as error:
            systems.faults.append(str(error))
            continue
        for name, entry in values.items():
            if name in systems.entries:
                raise UserError(
                    f"{path}: the system '{name}' is also defined in {systems.entries[name][0]}: rename one of them."
                )
            fault = _fault(name, entry, pattern, reserved)
            if fault:
                systems.faults.append(f"{path}: {fault}")
            else:
                systems.entries[name] = (path, with_absolute_paths(entry, path))
    return systems


def _fault(name: str, entry: Any, pattern: str, reserved: Iterable[str]) -> str | None:
    if not re.fullmatch(pattern, name) or name in reserved:
        return (
            f"'{name}' cannot be a system's name: use small letters, digits and single underscores, begin with a "
            f"letter, and avoid {', '.join(reserved)}."
        )
    if not isinstance(entry, Mapping):
        return f"{name}: expected keys and values, found {shown_value(entry)}."
    return None
