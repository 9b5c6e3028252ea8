"""Inputs and settings of the corpus jobs: raw files, held-out splits."""

import os
from typing import Any

from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.filters import FILTERS
from nmtcore.config.own_folder import check_own_files
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.config.stages import FilteringSettings, ReadingSettings, filtering_values
from nmtcore.config.typed import changed, choose
from nmtcore.errors import UserError
from nmtcore.written import Records


def raw_files(project: Project, *, dataset: str, split: str) -> list[str]:
    """List the raw files of a split. Raises `UserError` if a file of the user's own is missing.

    Paths with braces are left out: Snakemake takes braces for wildcards and knows no escape. `braced_files`, a
    parameter of the same jobs, tells when these files change.
    """
    settings, layout = _with_split(project, dataset, split), project.layout
    # A split that has been read no longer needs its raw files.
    if not os.path.exists(layout.path("raw_pairs", dataset=dataset, split=split)):
        check_own_files(settings, where=project.dataset_files[dataset])
    return [path for path in _raw_files(project, settings, split) if "{" not in path]


def braced_files(project: Project, *, dataset: str, split: str) -> dict[str, str | None]:
    """Return the checksums of the raw files of a split whose paths have braces."""
    paths = _raw_files(project, _with_split(project, dataset, split), split)
    return {path: Records(project.layout).sha256(path) for path in paths if "{" in path}


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
    return [project.layout.path("raw_pairs", dataset=dataset, split=own) for own in splits]


def pairs_in_train(project: Project, *, run: RunSettings) -> list[str]:
    """List the counts of what the run's tests share with train, of tests that the filter `held_out` does not name.

    Data sets without this filter are not counted, nor are those of systems trained elsewhere.
    """
    held_out = project.dataset(run.dataset).held_out
    tests = [split for split in run.tests if split not in held_out] if held_out and run.external is None else []
    return [project.layout.path("pairs_in_train", dataset=run.dataset, split=split) for split in tests]


def filter_threads(project: Project, *, dataset: str) -> int:
    """Return the number of threads for filtering: only langdetect and filters of one's own use more than one."""
    names = set(map(FILTERS.name_of, project.dataset(dataset).filters))
    return 2 if names - {"empty", "length", "ratio", "duplicates", "held_out"} else 1


def _raw_files(project: Project, settings: DatasetSettings, split: str) -> list[str]:
    corpora = (settings.corpora[part.corpus] for part in settings.splits[split])
    files = (file for corpus in corpora for files in corpus.files.values() for file in files)
    return list(dict.fromkeys(file.path or project.layout.path("download", file=file.name) for file in files))


def _with_split(project: Project, dataset: str, split: str) -> DatasetSettings:
    """Return the settings of a data set. Raises `UserError` if it has no such split."""
    settings = project.dataset(dataset)
    choose(split, settings.splits, noun="split", where=dataset)
    return settings
