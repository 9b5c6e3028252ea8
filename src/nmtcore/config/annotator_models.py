"""Annotators' models: their files (entries of `config/models`) and the folders to search for them.

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
from nmtcore.errors import UserError
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


def has_model(name: str, folders: Sequence[str | Path], *, tool: str) -> bool:
    """Say whether a model for an annotator's `tool` (a key of `ANNOTATORS`) is on this machine.

    It may be in one of `folders`, in the folder that its environment variable names, or an installed spaCy pipeline. No
    package is imported to check this.
    """
    if tool == "spacy" and installed_pipeline(name) is not None:
        return True
    return first_model_path(name, folders, holds=ANNOTATORS[tool].model_holds) is not None


def candidate_paths(name: str, folders: Sequence[str | Path]) -> list[Path]:
    """List the paths that a model may have, in the order of search; raise a `ValueError` if its name is not plain."""
    check_model_name(name)
    paths = [Path(folder) / name for folder in folders]
    if home := os.environ.get(HOMES.get(name, "")):
        paths.append(Path(home))
    return paths


def first_model_path(name: str, folders: Sequence[str | Path], *, holds: str = "") -> Path | None:
    """Return the absolute path of the first model among the candidates, or None if there is none.

    `holds` is a glob that must match in the model's folder; if empty, the model is a file or a folder with one file.
    Raises `UserError` if its environment variable names another folder.
    """
    for path in candidate_paths(name, folders):
        if holds and path.is_dir() and any(path.glob(holds)):
            return path.resolve()
        if not holds and (file := _single_file(path)):
            return file.resolve()
    if home := os.environ.get(HOMES.get(name, "")):
        raise UserError(f"{HOMES[name]} is {home}, which is no folder that holds {holds}: correct or unset it.")
    return None


def _single_file(path: Path) -> Path | None:
    if path.is_file():
        return path
    inside = [file for file in path.glob("[!.]*") if file.is_file() and file.suffix != ".json"]
    return inside[0] if len(inside) == 1 else None


def installed_pipeline(name: str) -> Path | None:
    """Find the package of an installed spaCy pipeline without importing it.

    Only the folders of this Python's installed packages are searched. The working directory is not, although Python may
    import from it. A package is a pipeline if its meta.json names a language and a pipeline.
    """
    check_model_name(name)
    folders = site.getsitepackages() + ([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])
    return next((path for folder in folders if _is_pipeline(path := Path(folder) / name)), None)


def _is_pipeline(package: Path) -> bool:
    with suppress(OSError, ValueError):
        meta = json.loads((package / "meta.json").read_text(encoding="utf-8"))
        return (package / "__init__.py").is_file() and isinstance(meta, dict) and {"lang", "pipeline"} <= meta.keys()
    return False
