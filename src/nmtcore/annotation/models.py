"""Where the model of an annotator lies on this machine."""

from collections.abc import Sequence
from pathlib import Path

from nmtcore.config.models import model_places, place_of_model
from nmtcore.errors import UserError


class ModelMissing(UserError):
    """A model that lies in none of the places where it was looked for."""


def find_model(name: str, folders: Sequence[Path], *, what: str, holds: str = "") -> Path:
    """Find a model by its name in one of `folders`, or where its environment variable says; never by a path.

    `what` names it in messages ("Stanza model"); `holds` is as for `place_of_model`. A name that is none, or a model
    that is not there (`ModelMissing`), is a `UserError`; the latter lists where it was looked for.
    """
    try:
        places = model_places(name, folders)
    except ValueError as error:
        raise UserError(f"{what}: {error}.") from error
    if found := place_of_model(name, folders, holds=holds):
        return found
    wanted = f"a folder that holds {holds}" if holds else "a file"
    looked = f"looked for it at {', '.join(map(str, places))}" if places else "no folder to look for it in was given"
    raise ModelMissing(
        f"There is no {what} '{name}' ({wanted}): {looked}. Add the folder that holds it to `models` in "
        "config/config.yaml (nmtcore takes it as --models FOLDER, too), or name a model of config/models, which the "
        "workflow fetches."
    )
