"""Inputs and settings of annotation jobs: parser models, shards, selections of training pairs."""

import re
from collections.abc import Iterable
from typing import Any

from nmtcore.annotation.models import has_model, missing_models
from nmtcore.config.corpora import SIDES
from nmtcore.config.datasets import ANNOTATORS, AnnotatorSettings, DatasetSettings
from nmtcore.config.project import Project
from nmtcore.config.typed import changed, choose


def annotator_of(project: Project, *, dataset: str, annotator: str) -> AnnotatorSettings:
    """Return the settings of a data set's annotator. Raises `UserError` if the data set has no such annotator."""
    annotators = project.dataset(dataset).annotators
    choose(annotator, annotators, noun="annotator", where=dataset)
    return annotators[annotator]


def annotator_settings(project: Project, *, dataset: str, annotator: str) -> dict[str, Any]:
    """Return the settings of an annotator, as plain values; its jobs run again when they change."""
    return ANNOTATORS.entry_of(annotator_of(project, dataset=dataset, annotator=annotator), values=changed)


def annotator_memory(project: Project, *, dataset: str, annotator: str) -> int:
    """Return the memory of an annotation job in megabytes: Java's limit plus 2000, and at least 6000."""
    settings = annotator_of(project, dataset=dataset, annotator=annotator)
    return max(6000, getattr(settings, "memory_mb", 0) + 2000)


def language(project: Project, *, dataset: str, side: str) -> str:
    """Return the language code of one side of a data set."""
    return project.dataset(dataset).language(side)


def annotator_models(project: Project, *, dataset: str, annotator: str) -> list[str]:
    """List the model files that an annotator needs and the workflow has to download."""
    return model_files(project, annotator_of(project, dataset=dataset, annotator=annotator))


def model_files(project: Project, annotator: AnnotatorSettings) -> list[str]:
    """List the downloadable model files of an annotator, except those in the user's own folders."""
    tool, folders = ANNOTATORS.name_of(annotator), project.settings.own_model_folders
    return [
        project.layout.path("download", file=file.name)
        for name in annotator.models
        if name in project.model_files and not has_model(name, folders, tool=tool)
        for file in project.annotator_model(name).files
    ]


def parsed_sides(dataset: DatasetSettings, annotator: str) -> tuple[str, ...]:
    """Return the sides that an annotator gives trees of: those for which `syntax` names it.

    One that `syntax` does not name parses the sides whose language is in the name of its model (`en_ud`) or, of
    CoreNLP, that it knows; both if it is neither's.
    """
    from nmtcore.annotation.corenlp import LANGUAGES  # planning seldom needs it, and it is slow to import

    settings = dataset.annotators[annotator]
    if "dependencies" not in settings.gives:
        return ()
    named = tuple(side for side in SIDES if annotator in dataset.syntax.get(side, {}).values())
    parts = {part for model in settings.models for part in re.split("[._-]", model.lower())}
    known = LANGUAGES if ANNOTATORS.name_of(settings) == "corenlp" else parts
    return named or tuple(side for side in SIDES if dataset.language(side) in known) or SIDES


def annotators_without_models(project: Project, annotators: Iterable[tuple[str, str]]) -> list[str]:
    """Return one sentence for each annotator, `(data set, name)`, whose model is missing and cannot be downloaded."""
    return [
        f"{dataset}: the annotator {annotator} cannot run: {sentence}"
        for dataset, annotator in sorted(set(annotators))
        for sentence in missing_models(
            annotator_of(project, dataset=dataset, annotator=annotator),
            project.settings.model_folders,
            fetched=project.model_files,
        )
    ]


def shard_files(project: Project, *, dataset: str, annotator: str, split: str, side: str) -> list[str]:
    """List the shards of an annotation: the annotator's `shards` for the training split, one for any other split."""
    settings = annotator_of(project, dataset=dataset, annotator=annotator)
    names = {"dataset": dataset, "annotator": annotator, "split": split, "side": side}
    shards = settings.shards if split == "train" else 1
    return [project.layout.path("annotation_shard", **names, shard=shard, shards=shards) for shard in range(shards)]


def selection_file(project: Project, *, dataset: str, split: str = "train") -> list[str]:
    """List the file with the selected training pairs; an empty list if the data set selects none."""
    if project.dataset(dataset).selection is None or split != "train":
        return []
    return [project.layout.path("selection", dataset=dataset)]


def selection_settings(project: Project, *, dataset: str) -> dict[str, Any]:
    """Return how a data set selects training pairs, as plain values; the selection runs again when they change."""
    return changed(project.dataset(dataset).selection)


def selection_annotations(project: Project, *, dataset: str) -> list[str]:
    """List the annotations of the training split that every selected pair must have."""
    settings = project.dataset(dataset)
    if settings.selection is None:
        return []
    names = {"dataset": dataset, "split": "train"}
    return [
        project.layout.path("annotation", **names, side=side, annotator=settings.syntax[side][annotation])
        for side, annotations in settings.selection.parsed.items()
        for annotation in annotations
    ]
