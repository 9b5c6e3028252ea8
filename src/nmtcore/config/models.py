"""Where the models of annotators come from: `config/models/NAME.yaml`, one file a model."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nmtcore.config.datasets import FileSettings


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """A parser's or tagger's files; the `name` of each is below `models/NAME/` of the downloads folder."""

    name: str
    description: str
    files: tuple[FileSettings, ...]
    licence: str = ""
    citation: str = ""

    def __post_init__(self) -> None:
        for file in self.files:
            if file.path is not None:
                raise ValueError(
                    "`path` is for corpora: put a model of your own into a folder of config.yaml's `models`"
                )
            if not file.name.startswith(f"models/{self.name}/"):
                raise ValueError(f"the file {file.name} must be called models/{self.name}/...")


HOMES = {"corenlp": "CORENLP_HOME"}
"""Models that an environment variable may name the folder of."""


def model_at_hand(name: str, folders: Sequence[str | Path]) -> bool:
    """Say whether a model is a path, lies in one of `folders`, or is where its environment variable says.

    An empty folder is no model.
    """
    places = [Path(name), *(Path(folder) / name for folder in folders)]
    if home := os.environ.get(HOMES.get(name, "")):
        places.append(Path(home))
    return any(place.is_file() or (place.is_dir() and any(place.iterdir())) for place in places)
