"""Files of the user's own: resolve each `path` in a data set or a corpus, and check that the file exists."""

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nmtcore.config.corpora import CorpusSettings, FileSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.stages import ReadingSettings
from nmtcore.config.yaml_files import read_yaml
from nmtcore.errors import UserError


def read_with_paths(path: Path) -> dict[str, Any]:
    """Read a file in `datasets`, `corpora` or `models` and make every `path` in it absolute.

    The path alone, as a string, is a valid entry. Relative paths start at the folder that holds `datasets`, `corpora`
    and `models`; `~` is the home folder.
    """
    values, folder = read_yaml(path), path.parent.parent
    if isinstance(values.get("corpora"), Mapping):
        values["corpora"] = {name: _resolve_corpus(corpus, folder, path) for name, corpus in values["corpora"].items()}
    return _resolve_corpus(values, folder, path)


def _resolve_corpus(corpus: Any, folder: Path, path: Path) -> Any:
    if not isinstance(corpus, Mapping) or not isinstance(corpus.get("files"), Mapping):
        return corpus
    return {**corpus, "files": {role: _resolve_entry(entry, folder, path) for role, entry in corpus["files"].items()}}


def _resolve_entry(entry: Any, folder: Path, path: Path) -> Any:
    if isinstance(entry, list):
        return [_resolve_entry(file, folder, path) for file in entry]
    if isinstance(entry, str):
        entry = {"path": entry}
    if not isinstance(entry, Mapping) or not isinstance(entry.get("path"), str):
        return entry
    if "://" in entry["path"]:
        raise UserError(
            f"{path}: '{entry['path']}' is an address, not a path: write {{name: ..., url: {entry['path']}}}."
        )
    if not entry["path"].strip():
        raise UserError(f"{path}: a file's `path` is empty.")
    return {**entry, "path": os.path.abspath(folder / os.path.expanduser(entry["path"]))}


def own_files(corpus: CorpusSettings) -> Iterator[tuple[str, FileSettings]]:
    """Yield each of the user's own files in a corpus, with its key (`files.source`)."""
    for role, files in corpus.files.items():
        for number, file in enumerate(files, start=1):
            if file.path is not None:
                yield f"files.{role}" + (f" (number {number})" if len(files) > 1 else ""), file


def check_own_files(dataset: DatasetSettings, *, where: str | Path) -> None:
    """Raise `UserError` if files of the user's own that a data set's splits need are missing; name all of them."""
    used = dict.fromkeys(part.corpus for parts in dataset.splits.values() for part in parts)
    missing = [
        f"  corpora.{name}: {key}: {'a folder is at' if os.path.isdir(file.path) else 'there is no file'} {file.path}"
        for name in used
        for key, file in own_files(dataset.corpora[name])
        if not os.path.isfile(file.path)
    ]
    if missing:
        raise UserError(
            "\n".join([f"{where}: files are missing (a relative path starts at the config folder):", *missing])
        )


def own_file_states(settings: ReadingSettings) -> dict[str, str]:
    """Return the size and modification time of each of the user's own files, by path; a replaced file changes them.

    Missing files are left out.
    """
    paths = dict.fromkeys(file.path for corpus in settings.corpora.values() for _, file in own_files(corpus))
    return {path: file_state(path) for path in paths if os.path.isfile(path)}


def file_state(path: str) -> str:
    """Return the size and modification time of a file."""
    stat = os.stat(path)
    seconds, nanoseconds = divmod(stat.st_mtime_ns, 10**9)
    modified = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}.{nanoseconds:09} UTC"
    return f"{stat.st_size} bytes, changed {modified}"
