"""Where the model of an annotator lies on this machine."""

import os
from collections.abc import Sequence
from pathlib import Path

from nmtcore.config.models import HOMES
from nmtcore.errors import UserError


def find_model(name: str, folders: Sequence[Path], *, what: str, holds: str = "") -> Path:
    """Find a model by its path, or by its name in one of `folders` (or where its environment variable says).

    `what` names it in messages ("Stanza model"). `holds` is a glob that must match inside a folder; without it the
    model is a file, or a folder with one file. A model that is not there is a `UserError` that lists where it was
    looked for.
    """
    places = [Path(name), *(Path(folder) / name for folder in folders)]
    if home := os.environ.get(HOMES.get(name, "")):
        places.append(Path(home))
    for place in places:
        if holds and place.is_dir() and any(place.glob(holds)):
            return place.resolve()
        if not holds and (found := _file(place)):
            return found.resolve()
    wanted = f"a folder that holds {holds}" if holds else "a file"
    raise UserError(
        f"There is no {what} '{name}' ({wanted}): looked for it at {', '.join(map(str, places))}. Add the folder that "
        "holds it to `models` in config/config.yaml, or name a model of config/models, which the workflow fetches."
    )


def _file(place: Path) -> Path | None:
    if place.is_file():
        return place
    inside = [path for path in place.glob("[!.]*") if path.is_file() and path.suffix != ".json"]
    return inside[0] if len(inside) == 1 else None
