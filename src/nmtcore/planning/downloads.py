"""Files to download: their settings in data sets and models, by their names below the downloads folder."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from nmtcore.config.corpora import FileSettings
from nmtcore.config.project import Project
from nmtcore.config.typed import changed, nearest
from nmtcore.corpus.sources import missing_manual, without_member
from nmtcore.errors import UserError
from nmtcore.layout import model_of


def file_settings(project: Project, *, file: str) -> FileSettings:
    """Return the settings of a file.

    Raises `UserError` if no data set or model names the file, or if two of them describe it differently. They may read
    different members of one archive.
    """
    named, unread = _named_files(project)
    owners = {owner: without_member(settings) for owner, settings in named.get(file, {}).items()}
    if not owners:
        hint = " ".join(["Not read:", *unread]) if unread else nearest(file, named)
        path = project.layout.path("download", file=file)
        raise UserError(f"{path}: no data set or model names this file. {hint}")
    if len(set(owners.values())) > 1:
        raise UserError(f"{', '.join(owners)} describe {file} differently: make them agree.")
    return next(iter(owners.values()))


def download_settings(project: Project, *, file: str) -> dict[str, Any]:
    """Return the settings of a download, as plain values without its approximate size."""
    return changed(replace(file_settings(project, file=file), megabytes=None))


def files_and_licences(
    project: Project, files: Iterable[str], *, datasets: Iterable[str]
) -> dict[str, tuple[FileSettings, str]]:
    """Return the settings of each file, and its licence according to one of `datasets` or a model."""
    licences = {
        file.name: corpus.licence or dataset.licence
        for dataset in map(project.dataset, datasets)
        for corpus in dataset.corpora.values()
        for files_of_role in corpus.files.values()
        for file in files_of_role
    }
    names = sorted(files)
    models = set(map(model_of, names))
    for model in map(project.annotator_model, models & set(project.model_files)):
        licences |= {file.name: model.licence for file in model.files}
    return {name: (file_settings(project, file=name), licences.get(name, "")) for name in names}


def files_by_hand(project: Project, files: Iterable[FileSettings]) -> dict[str, str]:
    """Return, by file name, what to do about each missing file that must be downloaded by hand."""
    manual, mirrors = Path(project.settings.paths.manual), project.settings.mirrors
    sentences = {file.name: missing_manual(file, manual_folder=manual, mirror_roots=mirrors) for file in files}
    return {name: sentence for name, sentence in sentences.items() if sentence}


@cache
def _named_files(project: Project) -> tuple[dict[str, dict[str, FileSettings]], list[str]]:
    """Return the settings of every file to download, by file name and by the data set or model that names it.

    Also returns one sentence for each data set or model that cannot be read; the current targets may not need it.
    """
    named: dict[str, dict[str, FileSettings]] = {}
    unread: dict[str, None] = {}
    for section, names in ((_corpus_files, project.dataset_files), (_model_files, project.model_files)):
        for name in names:
            try:
                for owner, file in section(project, name):
                    named.setdefault(file.name, {})[owner] = file
            except UserError as error:
                unread[str(error)] = None
    return named, list(unread)


def _corpus_files(project: Project, dataset: str) -> Iterator[tuple[str, FileSettings]]:
    for corpus, settings in project.dataset(dataset).corpora.items():
        for files in settings.files.values():
            yield from ((f"{dataset}: {corpus}", file) for file in files if file.path is None)


def _model_files(project: Project, model: str) -> Iterator[tuple[str, FileSettings]]:
    return ((f"model {model}", file) for file in project.annotator_model(model).files)
