"""How files and entries extend others of their kind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmtcore.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Level:
    """One of a line of files or entries, each of which extends the one before it."""

    name: str
    path: Path
    """Its file."""
    keys: Mapping[str, Any]
    """What it says itself, without `extends`."""

    @property
    def where(self) -> str:
        """Its place, for messages."""
        return f"{self.path}: {self.name}"


def lineage(
    name: str, entry: Callable[[str], tuple[Path, dict[str, Any]]], check: Callable[..., str]
) -> tuple[Level, ...]:
    """Give `name` and all that it extends, the oldest ancestor first; a circle is an error.

    `entry(name)` gives a file and its keys; `check(name, where=...)` raises an error for a name that is not known.
    """
    levels: list[Level] = []
    parent: str | None = name
    while parent is not None:
        path, keys = entry(parent)
        own = {key: value for key, value in keys.items() if key != "extends"}
        levels.append(Level(name=parent, path=path, keys=own))
        parent = keys.get("extends")
        if parent is not None:
            check(parent, where=f"{levels[-1].where}: extends")
        names = [level.name for level in levels]
        if parent in names:
            raise UserError(f"{path}: {' extends '.join([*names, parent])}: a circle.")
    return tuple(reversed(levels))
