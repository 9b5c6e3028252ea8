"""Files of a user's configuration that replace files of the repository."""

from collections.abc import Sequence
from pathlib import Path

from nmtcore.config.yaml_files import yaml_paths

SUBFOLDERS = ("corpora", "datasets", "models", "published", "recipes", "scales", "systems")
"""Subfolders of a configuration."""


def hidden_files(folders: Sequence[Path]) -> list[str]:
    """Return one sentence for each file that hides another file of the same name in a later folder."""
    sentences = []
    for subfolder in SUBFOLDERS:
        first: dict[str, Path] = {}
        for folder in folders:
            for path in yaml_paths(folder / subfolder):
                used = first.setdefault(path.stem, path)
                if used.parent != path.parent and not _are_equal(used, path):
                    sentences.append(f"{used} is used in place of {path}.")
    return sentences


def _are_equal(one: Path, other: Path) -> bool:
    if one.resolve() == other.resolve():
        return True
    try:
        return one.read_bytes() == other.read_bytes()
    except OSError:  # reading the configuration reports this
        return False
