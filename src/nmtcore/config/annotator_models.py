"""Annotators' models: their files (`config/models/NAME.yaml`, one file per model) and the folders to search for them.

A parser's model can run code: CoreNLP's and EasyCCG's are Java programs. So a model has a plain name, and only the
user's folders are searched for it, neither the working directory nor the folder of a trained model.
"""

import json
import os
import site
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from nmtcore.config.annotators import ANNOTATORS, check_model_name
from nmtcore.config.corpora import FileSettings
from nmtcore.config.ranges import settings_class
from nmtcore.layout import MODELS, model_of


@settings_class
class AnnotatorModelSettings:
    """The files of a parser or tagger; the `name` of each begins with `models/NAME/`."""

    name: str
    """Name of the file."""
    description: str
    """A sentence that says what the model is."""
    files: tuple[FileSettings, ...]
    """Files of the model."""
    licence: str = ""
    """Licence."""
    citation: str = ""
    """What to cite."""

    def __post_init__(self) -> None:
        for file in self.files:
            if file.path is not None:
                raise ValueError(
                    "`path` is for corpora: put your own model into a folder that `models` in config.yaml lists"
                )
            if model_of(file.name) != self.name:
                raise ValueError(f"the file {file.name} must have a name like {MODELS}/{self.name}/...")


HOMES = {"corenlp": "CORENLP_HOME"}
"""Environment variables that may give the folder of a model."""


def model_at_hand(name: str, folders: Sequence[str | Path], *, tool: str) -> bool:
    """Say whether a model for an annotator's `tool` (a key of `ANNOTATORS`) is on this machine.

    It may lie in one of `folders` or where its environment variable says, or, for spaCy, be an installed pipeline. No
    package is imported to find out.
    """
    if tool == "spacy" and installed_pipeline(name) is not None:
        return True
    return place_of_model(name, folders, holds=ANNOTATORS[tool].model_holds) is not None


def model_places(name: str, folders: Sequence[str | Path]) -> list[Path]:
    """List where a model is looked for, in order; a name that is not plain (a path, say) is a `ValueError`."""
    check_model_name(name)
    places = [Path(folder) / name for folder in folders]
    if home := os.environ.get(HOMES.get(name, "")):
        places.append(Path(home))
    return places


def place_of_model(name: str, folders: Sequence[str | Path], *, holds: str = "") -> Path | None:
    """Find a model in the first of its places that has it; give an absolute path, None where it is nowhere.

    `holds` is a glob that must match inside a folder; without it the model is a file, or a folder with one file.
    """
    for place in model_places(name, folders):
        if holds and place.is_dir() and any(place.glob(holds)):
            return place.resolve()
        if not holds and (found := _file(place)):
            return found.resolve()
    return None


def _file(place: Path) -> Path | None:
    if place.is_file():
        return place
    inside = [path for path in place.glob("[!.]*") if path.is_file() and path.suffix != ".json"]
    return inside[0] if len(inside) == 1 else None


def installed_pipeline(name: str) -> Path | None:
    """Find the package of an installed spaCy pipeline, without importing it.

    Only folders where this Python's packages are installed are searched, not the working directory, though Python may
    import from it. A pipeline's package has a meta.json that names a language and a pipeline; no other package has one.
    """
    check_model_name(name)
    places = site.getsitepackages() + ([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])
    return next((place for folder in places if _is_pipeline(place := Path(folder) / name)), None)


def _is_pipeline(package: Path) -> bool:
    with suppress(OSError, ValueError):
        meta = json.loads((package / "meta.json").read_text(encoding="utf-8"))
        return (package / "__init__.py").is_file() and isinstance(meta, dict) and {"lang", "pipeline"} <= meta.keys()
    return False
