"""The systems' entries as their files have them. A mistake in one entry matters only to targets that need it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nmtcore.config.typed import choose
from nmtcore.config.yaml_files import read_yaml
from nmtcore.errors import UserError


@dataclass(frozen=True, kw_only=True)
class SystemEntries:
    """What the files of `systems/` hold."""

    entries: dict[str, tuple[Path, dict[str, Any]]] = field(default_factory=dict)
    """By name: the file and the keys of every system that can be read."""
    faults: list[str] = field(default_factory=list)
    """A sentence for each file or system that cannot be read."""

    def check(self, name: str, *, where: str) -> str:
        """Return the name of a system that was read; if it was not, say what could not be read."""
        try:
            return choose(name, self.entries, what="system", where=where)
        except UserError as error:
            if not self.faults:
                raise
            raise UserError(" ".join([str(error), "Not read:", *self.faults])) from error


def read_systems(paths: Iterable[Path], *, pattern: str, reserved: Iterable[str]) -> SystemEntries:
    """Read files of systems, whose names must match `pattern` and be none of `reserved`.

    What cannot be read is a fault of the result. A system that stands in two files is a `UserError`: either could be
    meant.
    """
    found = SystemEntries()
    for path in paths:
        try:
            values = read_yaml(path)
        except UserError as error:
            found.faults.append(str(error))
            continue
        for name, entry in values.items():
            if name in found.entries:
                raise UserError(
                    f"{path}: the system '{name}' stands in {found.entries[name][0]} too: give one of them another "
                    "name."
                )
            fault = _fault(name, entry, pattern, reserved)
            if fault:
                found.faults.append(f"{path}: {fault}")
            else:
                found.entries[name] = (path, dict(entry))
    return found


def _fault(name: str, entry: Any, pattern: str, reserved: Iterable[str]) -> str | None:
    if not re.fullmatch(pattern, name) or name in reserved:
        return (
            f"'{name}' cannot be a system's name: it has small letters, digits and single underscores, begins with a "
            f"letter, and is none of {', '.join(reserved)}."
        )
    if not isinstance(entry, Mapping):
        return f"{name}: expected keys and values, found {entry!r}."
    return None
