"""The files of a configuration by name, of which one with an invalid name is an error only when used, and `extends`."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.layers import Layer
from nmtcore.config.typed import choose, shown_value
from nmtcore.config.yaml_files import read_yaml, yaml_files
from nmtcore.errors import UserError
from nmtcore.layout import NAME

ALL = "*"
"""Every key of a mapping."""

OWN_FILES = (("files", ALL), ("corpora", ALL, "files", ALL), ("external", "translations", ALL, ALL))
"""Where data sets, corpora and systems have paths of files of the user's own."""


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
        self._resolved: dict[str, dict[str, Any]] = {}
        self._lineages: dict[str, tuple[Layer, ...]] = {}

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
        """Read the settings of a name, with the paths of the user's own files resolved."""
        if name not in self._resolved:
            values = self._values[name] if name in self._values else read_yaml(self[name])
            for keys in OWN_FILES:
                values = changed_below(values, keys, lambda value: _resolved(value, self[name]))
            self._resolved[name] = values
        return self._resolved[name]

    def where(self, name: str) -> str:
        """Return the file of a name, and the name if the file holds several, for messages."""
        return str(self[name]) if self[name].stem == name else f"{self[name]}: {name}"

    def check(self, name: str, *, where: str) -> str:
        """Return the name. Raises `UserError` if it is unknown; the message also says what is not read or there."""
        try:
            return choose(name, self, noun=self.noun, where=where)
        except UserError as error:
            unread = ["Not read:", *self.unread.values()] if self.unread else []
            raise UserError(" ".join([str(error), *filter(None, [self.absent]), *unread])) from error

    def lineage(self, name: str, check: Callable[[Sequence[Layer]], None] = lambda layers: None) -> tuple[Layer, ...]:
        """Return the layers of a name and of those that it extends, the oldest first, without `extends`.

        They are read once, and `check` is called for them. Raises `UserError` if one that is extended is unknown, or if
        one extends itself, directly or through others.
        """
        if name not in self._lineages:
            layers = self._read_lineage(name)
            check(layers)
            self._lineages[name] = layers
        return self._lineages[name]

    def _read_lineage(self, name: str) -> tuple[Layer, ...]:
        layers: list[Layer] = []
        parent: str | None = name
        while parent is not None:
            layers.append(Layer(self.where(parent), {**self.read(parent)}, parent))
            where, keys, _ = layers[-1]
            parent, names = keys.pop("extends", None), [layer.name for layer in layers]
            if parent in names:
                chain = " extends ".join([*names, parent])
                raise UserError(f"{self[names[-1]]}: {chain}: this is circular, remove one `extends`.")
            if parent is not None:
                if not isinstance(parent, str):
                    raise UserError(f"{where}: extends: expected a name, found {shown_value(parent)}.")
                self.check(parent, where=f"{where}: extends")
        return tuple(reversed(layers))


def named_files(folders: Sequence[Path], subfolder: str, *, noun: str, entries: bool = False) -> NamedFiles:
    """Find the files of a subfolder ("datasets"); the first folder that has a name wins. Messages use `noun`.

    With `entries`, files that hold several entries count as these. Raises `UserError` if two files of a folder have the
    same name in them.
    """
    files = NamedFiles(noun)
    if len(folders) > 1 and not folders[0].is_dir():
        here, name = folders[0].absolute().parent, folders[0].name
        files.absent = f"{here} has no {name}/, so there are none of your own: is it the right folder?"
    for folder in reversed(folders):
        paths: dict[str, Path] = {}
        for stem, path in yaml_files(folder / subfolder).items():
            for name, values in _entries_in(path) if entries else [(stem, None)]:
                if name in paths:
                    raise UserError(
                        f"{path}: the {noun} '{name}' is also defined in {paths[name]}: rename one of them."
                    )
                paths[name] = path
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


def changed_below(values: Any, keys: Sequence[str], change: Callable[[Any], Any]) -> Any:
    """Return values in which what stands below a path of keys is changed; checking reports other forms."""
    if not keys:
        return change(values)
    if not isinstance(values, Mapping):
        return values
    inner = {key: value for key, value in values.items() if keys[0] in (ALL, key)}
    return {**values, **{key: changed_below(value, keys[1:], change) for key, value in inner.items()}}


def _resolved(value: Any, file: Path) -> Any:
    """Resolve the path of a file of the user's own, each of a list, or the `path` in a file's settings.

    Relative paths start at the folder that holds `datasets`, `corpora` and `systems`, one of which holds `file`; `~` is
    the home folder. Paths in the working directory become relative to it, so that they stay as they are if it is moved;
    all others become absolute.
    """
    if isinstance(value, list):
        return [_resolved(inner, file) for inner in value]
    if isinstance(value, Mapping):
        return changed_below(value, ["path"], lambda path: _resolved(path, file) if isinstance(path, str) else path)
    if not isinstance(value, str):
        return value
    if "://" in value:
        raise UserError(f"{file}: '{value}' is an address, not a path: write {{name: ..., url: {value}}}.")
    if not value.strip():
        raise UserError(f"{file}: a file's `path` is empty.")
    absolute = os.path.abspath(file.parent.parent / os.path.expanduser(value))
    relative = os.path.relpath(absolute)
    return absolute if relative.startswith("..") else relative


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
