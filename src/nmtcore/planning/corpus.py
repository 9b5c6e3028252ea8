"""What the corpus stage reads: files of data sets, other splits, truecasing models."""

import os

from nmtcore.config.changes import Tracked
from nmtcore.config.datasets import SIDES, DatasetSettings
from nmtcore.config.depends import filtering_settings, reading_settings
from nmtcore.config.filters import FILTERS
from nmtcore.config.own_files import check_own_files, own_file_states
from nmtcore.config.project import Project
from nmtcore.config.stages import FilteringSettings, ReadingSettings
from nmtcore.config.typed import choose


def raw_files(project: Project, *, dataset: str, split: str) -> list[str]:
    """Give the files of a split, downloaded or the user's own; a missing one of the user's is a `UserError`."""
    settings, layout = _with_split(project, dataset, split), project.layout
    # A split that was read needs its files no longer.
    if not os.path.exists(layout.path("raw_pairs", dataset=dataset, split=split)):
        check_own_files(settings, where=project.dataset_files[dataset])
    corpora = (settings.corpora[part.corpus] for part in settings.splits[split])
    files = (file for corpus in corpora for files in corpus.files.values() for file in files)
    return list(dict.fromkeys(file.path or layout.path("download", file=file.name) for file in files))


def tracked_reading(project: Project, *, dataset: str, split: str) -> Tracked:
    """Give what reading a split depends on.

    The state of the user's own files is a part of it: Snakemake would not notice that an older file replaced one.
    """
    settings = ReadingSettings.of(_with_split(project, dataset, split), split)
    return Tracked(settings, reading_settings(settings) | own_file_states(settings))


def tracked_filtering(project: Project, *, dataset: str, split: str) -> Tracked:
    """Give what filtering a split depends on."""
    settings = FilteringSettings.of(_with_split(project, dataset, split), split)
    return Tracked(settings, filtering_settings(settings))


def held_out_splits(project: Project, *, dataset: str, split: str) -> list[str]:
    """Give the splits that training pairs must not occur in, where the data set's filters say so."""
    settings = project.dataset(dataset)
    if split != "train" or "held_out" not in map(FILTERS.name_of, settings.filters):
        return []
    return [project.layout.path("raw_pairs", dataset=dataset, split=test) for test in settings.tests]


def filter_threads(project: Project, *, dataset: str) -> int:
    """Give the threads for filtering: filters that guess languages share out their pairs, others are faster alone."""
    names = map(FILTERS.name_of, project.dataset(dataset).filters)
    return 2 if {"langdetect", "lingua"}.intersection(names) else 1


def truecasers(project: Project, *, dataset: str) -> list[str]:
    """Give the truecasing models of the sides that have one."""
    settings = project.dataset(dataset)
    owner = settings.segmentation_from or dataset
    return [
        project.layout.path("truecaser", dataset=owner, side=side) for side in SIDES if settings.words[side].truecase
    ]


def _with_split(project: Project, dataset: str, split: str) -> DatasetSettings:
    """Give the settings of a data set that has a split; one that has it not is a `UserError`."""
    settings = project.dataset(dataset)
    choose(split, settings.splits, what="split", where=dataset)
    return settings
