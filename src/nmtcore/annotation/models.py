"""Find the models of annotators on this machine."""

import re
from collections.abc import Container, Sequence
from pathlib import Path

from nmtcore.config.annotator_models import candidate_paths, first_model_path, has_model
from nmtcore.config.annotators import ANNOTATORS, AnnotatorSettings
from nmtcore.errors import UserError

_SPACY_PIPELINE = re.compile(r"[a-z]{2,3}_[a-z]+_[a-z]+_(?:sm|md|lg|trf)").fullmatch
"""Names of spaCy's own pipelines: language, type, genre and size, as in en_core_web_sm."""


class MissingModel(UserError):
    """A model is in none of the searched folders."""


def find_model(name: str, folders: Sequence[Path], *, description: str, holds: str = "") -> Path:
    """Find a model by its name, in one of `folders` or through its environment variable; a path is no name.

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
