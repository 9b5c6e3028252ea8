"""The user's own folder: its configuration over that of the repository, and the files of her corpora."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.corpora import CorpusSettings, FileSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.files import check_files
from nmtcore.config.layers import merge
from nmtcore.config.own_code import own_config
from nmtcore.config.project import Project
from nmtcore.config.project_settings import read_project_settings
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
    folder_config = config_file(folder / "config")
    settings = folder_config if folder_config.is_file() else config_file(shared)
    return Project([folder / "config", shared], merge(read_yaml(settings), overrides), where=str(settings))


def project_model_folders(bundle: Path) -> tuple[Path, ...]:
    """Return the folders of annotators' models in the working folder's config/config.yaml; empty without that file.

    A configuration inside `bundle`, a trained model that may come from somebody else, is never read, even if it is in
    the working folder. Raises `UserError` if the configuration is not valid.
    """
    path = config_file(own_config())
    if not path.is_file() or path.resolve().is_relative_to(bundle.resolve()):
        return ()
    settings = read_project_settings(read_yaml(path), where=str(path))
    return tuple(path.parent.parent / folder for folder in settings.model_folders)


def own_files(corpus: CorpusSettings) -> Iterator[tuple[str, FileSettings]]:
    """Yield each of the user's own files in a corpus, with its key (`files.source`)."""
    for role, files in corpus.files.items():
        for number, file in enumerate(files, start=1):
            if file.path is not None:
                yield f"files.{role}" + (f" (number {number})" if len(files) > 1 else ""), file


def check_own_files(dataset: DatasetSettings, *, where: str | Path) -> None:
    """Raise `UserError` if files of the user's own that a data set's splits need are missing; name all of them."""
    used = dict.fromkeys(part.corpus for parts in dataset.splits.values() for part in parts)
    files = {f"corpora.{name}: {key}": file.path for name in used for key, file in own_files(dataset.corpora[name])}
    check_files(files, where=where)
