"""Inheritance between files or entries: the key `extends`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmtcore.config.typed import shown_value
from nmtcore.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Level:
    """A file or entry in a lineage, each of which extends the previous one."""

    name: str
    path: Path
    """The file that holds it."""
    keys: Mapping[str, Any]
    """Its own keys, without `extends`."""

    @property
    def where(self) -> str:
        """File and name, for messages."""
        return f"{self.path}: {self.name}"


def lineage(
    name: str, entry: Callable[[str], tuple[Path, dict[str, Any]]], check: Callable[..., str]
) -> tuple[Level, ...]:
    """Return `name` and its ancestors, the oldest ancestor first.

    `entry(name)` returns a file and its keys; `check(name, where=...)` raises an error if the name is unknown. Raises
    `UserError` if an entry extends itself, directly or through others.
    """
    levels: list[Level] = []
    parent: str | None = name
    while parent is not None:
        path, keys = entry(parent)
        own = {key: value for key, value in keys.items() if key != "extends"}
        levels.append(Level(name=parent, path=path, keys=own))
        parent = keys.get("extends")
        if parent is not None:
            if not isinstance(parent, str):
                raise UserError(f"{levels[-1].where}: extends: expected a name, found {shown_value(parent)}.")
            check(parent, where=f"{levels[-1].where}: extends")
        names = [level.name for level in levels]
        if parent in names:
            raise UserError(f"{path}: {' extends '.join([*names, parent])}: this is circular, remove one `extends`.")
    return tuple(reversed(levels))
