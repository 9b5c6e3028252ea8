"""What COMET needs: its model, and an environment of its own."""

import shutil
from pathlib import Path

from nmtcore.annotation.models import candidate_paths, first_model_path
from nmtcore.config.project_settings import ProjectSettings
from nmtcore.errors import UserError

_CHECKPOINT = "checkpoints/model.ckpt"
_SETTINGS = "hparams.yaml"


def comet_checkpoint(settings: ProjectSettings) -> Path:
    """Return the path of the checkpoint of COMET's model. Raises `UserError` if the model is in none of the folders."""
    name = settings.comet.model
    folder = first_model_path(name, settings.model_folders, holds=_CHECKPOINT)
    if folder is None or not (folder / _SETTINGS).is_file():
        searched = ", ".join(map(str, candidate_paths(name, settings.model_folders)))
        raise UserError(
            f"There is no COMET model '{name}' (a folder that holds {_SETTINGS} and {_CHECKPOINT}): looked for it at "
            f"{searched}. Put the files of huggingface.co/Unbabel/{name} at one of these places, or name another "
            "model: --config 'comet={model: NAME}'."
        )
    return folder / _CHECKPOINT


def comet_obstacles(settings: ProjectSettings, *, with_conda: bool) -> list[str]:
    """Return one sentence for each thing that COMET lacks; `with_conda` says whether jobs run in conda environments."""
    sentences = []
    try:
        comet_checkpoint(settings)
    except UserError as error:
        sentences.append(str(error))
    python = settings.comet.python
    if python is None and not with_conda:
        sentences.append(
            "COMET needs an environment of its own: add --software-deployment-method conda, or name the Python of an "
            "environment that has unbabel-comet: --config 'comet={python: /my/comet/bin/python}'."
        )
    if python is not None and shutil.which(python) is None:
        sentences.append(f"comet.python in config.yaml: there is no program {python}; name a Python interpreter.")
    return sentences
