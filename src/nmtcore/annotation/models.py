"""Find the models of annotators on this machine.

A parser's model can run code: CoreNLP's and EasyCCG's are Java programs. So a model has a plain name, and only the
user's folders are searched for it, neither the working directory nor the folder of a trained model.
"""

import json
import re
import site
from collections.abc import Container, Sequence
from contextlib import suppress
from pathlib import Path

from nmtcore.config.datasets import ANNOTATORS, AnnotatorSettings, check_model_name
from nmtcore.errors import UserError

_SPACY_PIPELINE = re.compile(r"[a-z]{2,3}_[a-z]+_[a-z]+_(?:sm|md|lg|trf)").fullmatch
"""Names of spaCy's own pipelines: language, type, genre and size, as in en_core_web_sm."""


def has_model(name: str, folders: Sequence[str | Path], *, tool: str) -> bool:
    """Say whether a model for an annotator's `tool` (a key of `ANNOTATORS`) is on this machine.

    It may be in one of `folders`, or an installed spaCy pipeline. No package is imported to check this.
    """
    if tool == "spacy" and installed_pipeline(name) is not None:
        return True
    return first_model_path(name, folders, holds=ANNOTATORS[tool].model_holds) is not None


def candidate_paths(name: str, folders: Sequence[str | Path]) -> list[Path]:
    """List the paths that a model may have, in the order of search; raise a `ValueError` if its name is not plain."""
    check_model_name(name)
    return [Path(folder) / name for folder in folders]


def first_model_path(name: str, folders: Sequence[str | Path], *, holds: str = "") -> Path | None:
    """Return the absolute path of the first model among the candidates, or None if there is none.

    `holds` is a glob that must match in the model's folder; if empty, the model is a file or a folder with one file.
    """
    for path in candidate_paths(name, folders):
        if holds and path.is_dir() and any(path.glob(holds)):
            return path.resolve()
        if not holds and (file := _single_file(path)):
            return file.resolve()
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


class MissingModel(UserError):
    """A model is in none of the searched folders."""


def find_model(name: str, folders: Sequence[Path], *, description: str, holds: str = "") -> Path:
    """Find a model by its name, in one of `folders`; a path is no name.

    `description` names the type of the model in messages ("Stanza model"); `holds` is as for `first_model_path`. Raises
    UserError if the name is not plain, and MissingModel, which lists the searched paths, if there is no such model.
    """
    try:
        path = first_model_path(name, folders, holds=holds)
    except ValueError as error:
        raise UserError(f"{description}: {error}.") from error
    if path is None:
        raise MissingModel(
            f"There is no {description} {_search_report(name, folders, holds)}. Add the folder that holds it to "
            "`models` in config/config.yaml (for nmtcore also: --models FOLDER), or name a model of config/models, "
            "which the workflow downloads."
        )
    return path


def missing_models(
    settings: AnnotatorSettings, folders: Sequence[str | Path], *, fetched: Container[str] = ()
) -> list[str]:
    """List an error message for each model of an annotator that is not on this machine; the workflow fetches some."""
    tool = ANNOTATORS.name_of(settings)
    missing = [name for name in settings.models if name not in fetched and not has_model(name, folders, tool=tool)]
    return [
        f"there is no {tool} model {_search_report(name, folders, settings.model_holds)}. Add "
        "the folder that holds it to `models` in config/config.yaml, or use --config 'models=[\"FOLDER\"]'."
        + (install_advice(name) if tool == "spacy" else "")
        for name in missing
    ]


def install_advice(pipeline: str) -> str:
    """Return a sentence on how to install one of spaCy's own pipelines; an empty string for any other name.

    A trained model from a stranger also names pipelines, and must not make a user install an arbitrary package.
    """
    return f" Or install it as a package: python -m spacy download {pipeline}." if _SPACY_PIPELINE(pipeline) else ""


def _search_report(name: str, folders: Sequence[str | Path], holds: str) -> str:
    paths = candidate_paths(name, folders)
    target = f"a folder that holds {holds}" if holds else "a file"
    searched = f"looked for it at {', '.join(map(str, paths))}" if paths else "there is no folder to search"
    return f"'{name}' ({target}): {searched}"
