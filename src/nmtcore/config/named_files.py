"""The files of one kind in the configuration's folders; one with a name that cannot be used concerns only who asks."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from nmtcore.config.typed import choose
from nmtcore.config.yaml_files import yaml_files, yaml_paths
from nmtcore.errors import UserError
from nmtcore.layout import NAME


class NamedFiles(dict[str, Path]):
    """Files by name; `unread` says of each other name why its file is not among them."""

    def __init__(self, files: Mapping[str, Path], unread: Mapping[str, str], *, what: str) -> None:
        super().__init__({name: path for name, path in files.items() if name not in unread})
        self.unread = dict(unread)
        self._what = what

    def check(self, name: str, *, where: str) -> str:
        """Return a name that has a file; for any other raise a `UserError`, which says why its file is not read."""
        if name in self.unread:
            raise UserError(f"{where}: Not read: {self.unread[name]}")
        return choose(name, self, what=self._what, where=where)


def named_files(folders: Sequence[Path], kind: str, *, what: str) -> NamedFiles:
    """Find the files of a kind ("datasets"); the first folder that has a name wins. `what` names one in messages."""
    files: dict[str, Path] = {}
    for folder in reversed(folders):
        files |= yaml_files(folder / kind)
    return NamedFiles(files, misnamed(folders, kind), what=what)


def misnamed(folders: Sequence[Path], kind: str) -> dict[str, str]:
    """Give a sentence for each file of a kind whose name does not match `NAME`."""
    return {
        path.stem: f"{path}: a name has small letters, digits and single underscores, and begins with a letter."
        for folder in reversed(folders)
        for path in yaml_paths(folder / kind)
        if not re.fullmatch(NAME, path.stem)
    }
