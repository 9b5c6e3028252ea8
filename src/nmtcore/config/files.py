"""The files of a configuration by name, of which one with an invalid name is an error only when used, and `extends`."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmtcore.config.typed import choose, shown_value
from nmtcore.config.yaml_files import read_yaml, yaml_files
from nmtcore.errors import UserError
from nmtcore.layout import NAME


class NamedFiles(dict[str, Path]):
    """Files by name. A file may hold several entries `NAME: {settings}`, each with a name of its own."""

    def __init__(self, noun: str) -> None:
        super().__init__()
        self.noun = noun
        """The word for one of them in messages, such as "data set"."""
        self.unread: dict[str, str] = {}
        """A sentence about each file or entry that is left out."""
        self.absent: str | None = None
        """A sentence about a folder that would have files of the user's own, and is not there."""
        self.hidden: list[str] = []
        """A sentence about each file that is used in place of another one."""
        self._values: dict[str, dict[str, Any]] = {}

    def add(self, name: str, path: Path, values: dict[str, Any] | None = None) -> None:
        """Add a file, or an entry of it, whose settings are `values`; None: `read` reads the file."""
        self[name] = path
        self._values.pop(name, None)
        if values is not None:
            self._values[name] = values

    def leave_out(self, name: str, sentence: str) -> None:
        """Leave out a name, for the reason that a sentence gives."""
        self.pop(name, None)
        self.unread[name] = sentence

    def read(self, name: str) -> dict[str, Any]:
        """Read the settings of a name."""
        if name not in self._values:
            self._values[name] = read_yaml(self[name])
        return self._values[name]

    def check(self, name: str, *, where: str) -> str:
        """Return the name. Raises `UserError` if it is unknown; the message also says what is not read or there."""
        try:
            return choose(name, self, noun=self.noun, where=where)
        except UserError as error:
            unread = ["Not read:", *self.unread.values()] if self.unread else []
            raise UserError(" ".join([str(error), *filter(None, [self.absent]), *unread])) from error


def absent_folder(folders: Sequence[Path]) -> str | None:
    """Say that the first of several folders, that of the working folder, is not there; None if it is."""
    if len(folders) == 1 or folders[0].is_dir():
        return None
    folder, name = folders[0].absolute().parent, folders[0].name
    return f"{folder} has no {name}/, so there are none of your own: is it the right folder?"


def named_files(folders: Sequence[Path], subfolder: str, *, noun: str, entries: bool = False) -> NamedFiles:
    """Find the files of a subfolder ("datasets"); the first folder that has a name wins. Messages use `noun`.

    With `entries`, files that hold several entries count as these. Raises `UserError` if two files of a folder have the
    same name in them.
    """
    files = NamedFiles(noun)
    files.absent = absent_folder(folders)
    for folder in reversed(folders):
        own: dict[str, Path] = {}
        for stem, path in yaml_files(folder / subfolder).items():
            for name, values in _entries_in(path) if entries else [(stem, None)]:
                if name in own:
                    raise UserError(f"{path}: the {noun} '{name}' is also defined in {own[name]}: rename one of them.")
                own[name] = path
                if name in files and files[name].resolve() != path.resolve():
                    files.hidden.append(f"{path} is used in place of {files[name]}.")
                files.add(name, path, values)
                if not re.fullmatch(NAME, name):
                    rule = "a name consists of small letters, digits and single underscores and begins with a letter."
                    files.leave_out(name, f"{path}: {rule}")
    files.hidden = list(dict.fromkeys(files.hidden))
    return files


def _entries_in(path: Path) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield the name and the settings of each entry of a file; a file that cannot be read is one without settings.

    A corpus, a model or a data set alone has texts among its values.
    """
    try:
        values = read_yaml(path)
    except UserError:  # which is said when it is used
        yield path.stem, None
        return
    has_entries = values and all(isinstance(value, Mapping) for value in values.values())
    yield from values.items() if has_entries else [(path.stem, values)]


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
        if parent is not None and not isinstance(parent, str):
            raise UserError(f"{levels[-1].where}: extends: expected a name, found {shown_value(parent)}.")
        if parent is not None:
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
