"""The project of a working folder: its own configuration and that of the repository, as in the workflow."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.project import Project
from nmtcore.config.typed import merge
from nmtcore.config.yaml_files import config_file, read_yaml
from nmtcore.errors import UserError

REPOSITORY = Path(__file__).resolve().parents[3]
"""The folder of the repository, if this package is used from there."""


def own_folders(**folders: Sequence[str]) -> dict[str, list[str]]:
    """Return settings of config.yaml that list folders, made absolute; addresses stay, empty lists are left out."""
    return {
        key: [name if "://" in name else os.path.abspath(os.path.expanduser(name)) for name in names]
        for key, names in folders.items()
        if names
    }


def project_of_folder(folder: Path, **overrides: Any) -> Project:
    """Read the project that Snakemake would read in a working folder (`snakemake -d FOLDER`).

    Its settings are those of the folder's own config.yaml or, without one, of the repository's; `overrides` replace
    keys. Relative folders in them start at the working directory, so call this there. Raises `UserError` if there is no
    configuration.
    """
    shared = REPOSITORY / "config"
    if not config_file(shared).is_file():
        raise UserError(
            "This command reads the configuration of the repository, which an installed wheel lacks: use the nmtcore "
            "of a checkout (its .venv/bin/nmtcore, or pip install --editable)."
        )
    own = config_file(folder / "config")
    settings = own if own.is_file() else config_file(shared)
    return Project([folder / "config", shared], merge(read_yaml(settings), overrides), where=str(settings))
