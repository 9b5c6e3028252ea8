"""Where the model of an annotator lies on this machine."""

import re
from collections.abc import Container, Sequence
from pathlib import Path

from nmtcore.config.annotator_models import model_at_hand, model_places, place_of_model
from nmtcore.config.annotators import ANNOTATORS, AnnotatorSettings
from nmtcore.errors import UserError

_OF_SPACY = re.compile(r"[a-z]{2,3}_[a-z]+_[a-z]+_(?:sm|md|lg|trf)").fullmatch
"""Language, type, genre and size: en_core_web_sm."""


class MissingModel(UserError):
    """A model is in none of the places where it was looked for."""


def find_model(name: str, folders: Sequence[Path], *, what: str, holds: str = "") -> Path:
    """Find a model by its name in one of `folders`, or where its environment variable says; never by a path.

    `what` names it in messages ("Stanza model"); `holds` is as for `place_of_model`. A name that is not plain is a
    `UserError`; a model that is not there is a `MissingModel`, which lists where it was looked for.
    """
    try:
        places = model_places(name, folders)
    except ValueError as error:
        raise UserError(f"{what}: {error}.") from error
    if found := place_of_model(name, folders, holds=holds):
        return found
    raise MissingModel(
        f"There is no {what} {_looked(name, places, holds)}. Add the folder that holds it to `models` in "
        "config/config.yaml (nmtcore takes it as --models FOLDER, too), or name a model of config/models, which the "
        "workflow fetches."
    )


def missing_models(
    settings: AnnotatorSettings, folders: Sequence[str | Path], *, fetched: Container[str] = ()
) -> list[str]:
    """Give a sentence for each model of an annotator that is not on this machine: where it was looked for, what to do.

    Models in `fetched` are passed over, since the workflow will fetch them.
    """
    tool = ANNOTATORS.name_of(settings)
    return [
        f"there is no {tool} model {_looked(name, model_places(name, folders), settings.model_holds)}. Add the folder "
        "that holds it to `models` in config/config.yaml, or say --config 'models=[\"FOLDER\"]'."
        + (installing(name) if tool == "spacy" else "")
        for name in settings.models
        if name not in fetched and not model_at_hand(name, folders, tool=tool)
    ]


def installing(pipeline: str) -> str:
    """Say, after another sentence, how one of spaCy's own pipelines is installed; nothing for any other name.

    Names stand in trained models too, which may come from anybody: none of them may make a user install what it names.
    """
    return f" Or install it as a package: python -m spacy download {pipeline}." if _OF_SPACY(pipeline) else ""


def _looked(name: str, places: Sequence[Path], holds: str) -> str:
    wanted = f"a folder that holds {holds}" if holds else "a file"
    looked = f"looked for it at {', '.join(map(str, places))}" if places else "no folder to look for it in was given"
    return f"'{name}' ({wanted}): {looked}"
