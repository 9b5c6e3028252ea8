"""The files in one subfolder of a configuration, by name; a file with an invalid name is an error only when used."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from nmtcore.config.typed import choose
from nmtcore.config.yaml_files import yaml_files, yaml_paths
from nmtcore.errors import UserError
from nmtcore.layout import NAME


class NamedFiles(dict[str, Path]):
    """Files by name; `unread` says for each file that is left out why it is not read."""

    def __init__(self, files: Mapping[str, Path], unread: Mapping[str, str], *, noun: str) -> None:
        super().__init__({name: path for name, path in files.items() if name not in unread})
        self.unread = dict(unread)
        self._noun = noun

    def check(self, name: str, *, where: str) -> str:
        """Return the name. Raises `UserError` if it has no file, or if the file is not read."""
        if name in self.unread:
            raise UserError(f"{where}: Not read: {self.unread[name]}")
        return choose(name, self, noun=self._noun, where=where)


def named_files(folders: Sequence[Path], subfolder: str, *, noun: str) -> NamedFiles:
    """Find the files of a subfolder ("datasets"); the first folder that has a name wins. Messages use `noun`."""
    files: dict[str, Path] = {}
    for folder in reversed(folders):
        files |= yaml_files(folder / subfolder)
    return NamedFiles(files, misnamed(folders, subfolder), noun=noun)


def misnamed(folders: Sequence[Path], subfolder: str) -> dict[str, str]:
    """Return one sentence for each file of a subfolder whose name does not match `NAME`."""
    return {
        path.stem: f"{path}: a name consists of small letters, digits and single underscores and begins with a letter."
        for folder in reversed(folders)
        for path in yaml_paths(folder / subfolder)
        if not re.fullmatch(NAME, path.stem)
    }
