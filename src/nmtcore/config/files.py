"""The files of a configuration by name, of which one with an invalid name is an error only when used, and `extends`."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nmtcore.config.typed import choose, shown_value
from nmtcore.config.yaml_files import read_yaml, yaml_files, yaml_paths
from nmtcore.errors import UserError
from nmtcore.layout import NAME


class NamedFiles(dict[str, Path]):
    """Files by name. `unread` says for each file that is left out why it is not read, `hidden` which files others hide.

    A file may hold several entries `NAME: {settings}`, each with a name of its own.
    """

    def __init__(
        self, files: Mapping[str, Path], unread: Mapping[str, str], *, noun: str, hidden: Sequence[str] = ()
    ) -> None:
        super().__init__({name: path for name, path in files.items() if name not in unread})
        self.unread = dict(unread)
        self.hidden = tuple(hidden)
        self._noun = noun
        self._values: dict[Path, dict[str, Any]] = {}

    def read(self, name: str) -> dict[str, Any]:
        """Read the settings of a name."""
        path = self[name]
        values = self._values[path] = self._values.get(path) or read_yaml(path)
        return values[name] if _holds_entries(values) else values

    def check(self, name: str, *, where: str) -> str:
        """Return the name. Raises `UserError` if it has no file, or if the file is not read."""
        if name in self.unread:
            raise UserError(f"{where}: Not read: {self.unread[name]}")
        return choose(name, self, noun=self._noun, where=where)


def named_files(folders: Sequence[Path], subfolder: str, *, noun: str) -> NamedFiles:
    """Find the files of a subfolder ("datasets"); the first folder that has a name wins. Messages use `noun`."""
    return _layered(folders, subfolder, yaml_files, noun=noun)


def named_entries(folders: Sequence[Path], subfolder: str, *, noun: str) -> NamedFiles:
    """Find the files of a subfolder and the entries of those that hold several, as `named_files` does.

    Raises `UserError` if two files of a folder have the same name in them.
    """
    return _layered(folders, subfolder, partial(_entries, noun=noun), noun=noun)


def _entries(folder: Path, *, noun: str) -> dict[str, Path]:
    entries: dict[str, Path] = {}
    for stem, path in yaml_files(folder).items():
        for name in _names_in(path) or [stem]:
            if name in entries:
                raise UserError(f"{path}: the {noun} '{name}' is also defined in {entries[name]}: rename one of them.")
            entries[name] = path
    return entries


def _layered(
    folders: Sequence[Path], subfolder: str, find: Callable[[Path], dict[str, Path]], *, noun: str
) -> NamedFiles:
    files: dict[str, Path] = {}
    hidden: list[str] = []
    for folder in reversed(folders):
        own = find(folder / subfolder)
        shared = {name: path for name, path in own.items() if name in files}
        others = {path: files[name] for name, path in shared.items() if path.resolve() != files[name].resolve()}
        hidden += [f"{path} is used in place of {other}." for path, other in others.items()]
        files |= own
    return NamedFiles(files, misnamed(folders, subfolder), noun=noun, hidden=hidden)


def _names_in(path: Path) -> list[str]:
    """Return the names of a file's entries; none if it has one unnamed, or cannot be read, which is said when used."""
    try:
        values = read_yaml(path)
    except UserError:
        return []
    return list(values) if _holds_entries(values) else []


def _holds_entries(values: Mapping[str, Any]) -> bool:
    """Tell whether a file holds entries by name: a corpus, a model or a data set alone has texts among its values."""
    return bool(values) and all(isinstance(value, Mapping) for value in values.values())


def misnamed(folders: Sequence[Path], subfolder: str) -> dict[str, str]:
    """Return one sentence for each file of a subfolder whose name does not match `NAME`."""
    return {
        path.stem: f"{path}: a name consists of small letters, digits and single underscores and begins with a letter."
        for folder in reversed(folders)
        for path in yaml_paths(folder / subfolder)
        if not re.fullmatch(NAME, path.stem)
    }


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


def check_files(paths: Mapping[str, str], *, where: str | Path) -> None:
    """Raise `UserError` if files of the user's own are missing; name all of them, with their keys."""
    missing = [
        f"  {key}: {'a folder is at' if os.path.isdir(path) else 'there is no file'} {path}"
        for key, path in paths.items()
        if not os.path.isfile(path)
    ]
    if missing:
        sentence = f"{where}: files are missing (a relative path starts at the config folder):"
        raise UserError("\n".join([sentence, *missing]))
