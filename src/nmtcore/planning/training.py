"""Inputs of the trainings: features, label vocabularies, the segmentation, the model that a run starts from."""

from typing import Any

from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.planning.features import segmentation_folder


def path_of_run(project: Project, file_type: str, run: RunSettings, **names: Any) -> str:
    """Return the path of a file of a run."""
    names = {"scale": run.scale, "dataset": run.dataset, "system": run.system, "seed": run.seed, **names}
    return project.layout.path(file_type, **names)


def split_features(project: Project, *, run: RunSettings, split: str) -> list[str]:
    """List the features that a run reads of one split."""
    folder = run.feature_folder(project.layout)
    return [f"{folder}/{name}" for name in run.feature_files(split)]


def training_features(project: Project, *, run: RunSettings) -> list[str]:
    """List the features that training reads."""
    return [path for split in run.training_splits for path in split_features(project, run=run, split=split)]


def segmentation_of_run(project: Project, *, run: RunSettings) -> str:
    """Return the folder of a run's segmentation."""
    return segmentation_folder(project, dataset=run.dataset, segmentation=run.segmentation.name)


def start_model(project: Project, *, run: RunSettings) -> list[str]:
    """List the model that a run starts from; an empty list if it starts from random weights."""
    if run.start is None:
        return []
    dataset, system = run.start
    return [path_of_run(project, "model", run, dataset=dataset, system=system)]


def label_files(project: Project, *, run: RunSettings) -> dict[str, dict[str, str]]:
    """Return the label vocabularies that a run reads, by side and annotator."""
    return run.label_files(project.layout)


def label_paths(project: Project, *, run: RunSettings) -> list[str]:
    """List the label vocabularies that a run reads."""
    return [path for paths in label_files(project, run=run).values() for path in paths.values()]
