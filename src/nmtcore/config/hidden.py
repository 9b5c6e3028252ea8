"""Files of a user's configuration that are used in place of the repository's."""

from collections.abc import Sequence
from pathlib import Path

from nmtcore.config.yaml_files import yaml_paths

KINDS = ("corpora", "datasets", "models", "recipes", "scales", "systems")
"""The folders of a configuration."""


def hidden_files(folders: Sequence[Path]) -> list[str]:
    """Say, one sentence each, which files hide another one of the same name in a later folder."""
    sentences = []
    for kind in KINDS:
        first: dict[str, Path] = {}
        for folder in folders:
            for path in yaml_paths(folder / kind):
                used = first.setdefault(path.stem, path)
                if used.parent != path.parent and used.resolve() != path.resolve():
                    sentences.append(f"{used} is used in place of {path}.")
    return sentences
