"""Inputs and settings of the corpus jobs: downloads, raw files, held-out splits."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from nmtcore.config.corpora import FILTERS, CorpusSettings, FileSettings
from nmtcore.config.datasets import DatasetSettings, check_own_files
from nmtcore.config.project import Project
from nmtcore.config.stages import FilteringSettings, ReadingSettings, filtering_values
from nmtcore.config.typed import changed, choose, nearest
from nmtcore.corpus.sources import missing_manual, without_member
from nmtcore.errors import UserError
from nmtcore.layout import model_of


def files_of(corpus: CorpusSettings) -> list[FileSettings]:
    """List the files of a corpus, of all roles."""
    return [file for files in corpus.files.values() for file in files]


# Downloads


def file_settings(project: Project, *, file: str) -> FileSettings:
    """Return the settings of a file, by its name below the downloads folder.

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
        for file in files_of(corpus)
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
        yield from ((f"{dataset}: {corpus}", file) for file in files_of(settings) if file.path is None)


def _model_files(project: Project, model: str) -> Iterator[tuple[str, FileSettings]]:
    return ((f"model {model}", file) for file in project.annotator_model(model).files)


# Splits


def raw_files(project: Project, *, dataset: str, split: str) -> list[str]:
    """List the raw files of a split. Raises `UserError` if one of the user's own is missing or its path has a brace."""
    settings, layout = _with_split(project, dataset, split), project.layout
    # A split that has been read no longer needs its raw files.
    if not os.path.exists(layout.path("raw_pairs", dataset=dataset, split=split)):
        check_own_files(settings, where=project.dataset_files[dataset])
    files = (file for part in settings.splits[split] for file in files_of(settings.corpora[part.corpus]))
    return [
        without_braces(path, where=dataset)
        for path in dict.fromkeys(file.path or layout.path("download", file=file.name) for file in files)
    ]


def without_braces(path: str, *, where: str) -> str:
    """Return a path. Raises `UserError` if it has a brace, which Snakemake would take for a wildcard."""
    if "{" in path:
        raise UserError(f"{where}: Snakemake takes braces in {path} for wildcards: rename the file or folder.")
    return path


def contrastive_files(project: Project, *, dataset: str, split: str) -> list[str]:
    """List the raw files of a split of contrastive pairs. Raises `UserError` if it is none."""
    splits = project.dataset(dataset).contrasts
    if not splits:
        raise UserError(f"{dataset} has no contrastive pairs (a split contrast_NAME).")
    choose(split, splits, noun="split of contrastive pairs", where=dataset)
    return raw_files(project, dataset=dataset, split=split)


def reading_settings(project: Project, *, dataset: str, split: str) -> dict[str, Any]:
    """Return the settings that reading a split depends on, as plain values."""
    return changed(ReadingSettings.of(_with_split(project, dataset, split), split))


def filtering_settings(project: Project, *, dataset: str, split: str) -> dict[str, Any]:
    """Return the settings that filtering a split depends on, as plain values."""
    return filtering_values(FilteringSettings.of(_with_split(project, dataset, split), split))


def held_out_splits(project: Project, *, dataset: str, split: str) -> list[str]:
    """List the splits whose sentences the filter `held_out` removes from the training split."""
    splits = project.dataset(dataset).held_out if split == "train" else ()
    return [project.layout.path("raw_pairs", dataset=dataset, split=name) for name in splits]


def filter_threads(project: Project, *, dataset: str) -> int:
    """Return the number of threads for filtering: only langdetect and filters of one's own use more than one."""
    names = set(map(FILTERS.name_of, project.dataset(dataset).filters))
    return 2 if names - {"empty", "length", "ratio", "duplicates", "held_out"} else 1


def _with_split(project: Project, dataset: str, split: str) -> DatasetSettings:
    """Return the settings of a data set. Raises `UserError` if it has no such split."""
    settings = project.dataset(dataset)
    choose(split, settings.splits, noun="split", where=dataset)
    return settings
