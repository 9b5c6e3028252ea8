"""Inputs and settings of the jobs from segmentation to training; how jobs share the GPUs of this machine."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from nmtcore.annotation.models import find_model, first_model_path
from nmtcore.config.corpora import SegmentationSettings
from nmtcore.config.imported import published_files
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError
from nmtcore.layout import MODELS
from nmtcore.planning.annotation import annotator_of

# Segmentation and features


def segmentation_folder(project: Project, *, dataset: str, segmentation: str) -> str:
    """Return the folder of a data set's segmentation, which may be that of another data set."""
    owner = project.dataset(dataset).segmentation_from or dataset
    return project.layout.path("segmentation", dataset=owner, segmentation=segmentation)


def model_of_pieces(project: Project, *, segmentation: str) -> list[str]:
    """List the files of the model that gives a segmentation its pieces; none if they are learned."""
    settings, folders = SegmentationSettings.parse(segmentation), project.settings.own_model_folders
    if (model := settings.model) is None:
        return []
    names = ["source.spm", "target.spm", "vocab.json", *([] if settings.joint else ["target_vocab.json"])]
    if model in project.model_files and first_model_path(model, folders, holds=names[0]) is None:
        return [project.layout.path("download", file=f"{MODELS}/{model}/{name}") for name in names]
    folder = find_model(model, folders, description="SentencePiece model", holds=names[0])
    for name in names:
        if not (folder / name).is_file():
            advice = "copy it again" if settings.joint else "copy it again, or write `joint: true`"
            raise UserError(f"{segmentation}: the model in {folder} has no {name}: {advice}.")
    return [str(folder / name) for name in names]


def training_linearised_parses(project: Project, *, dataset: str, segmentation: str) -> list[str]:
    """List the linearised parses of the training sources if a segmentation is also learned from them."""
    if SegmentationSettings.parse(segmentation).also is None:
        return []
    annotator = project.dataset(dataset).syntax.get("source", {}).get("constituency")
    if annotator is None:
        raise UserError(
            f"{dataset}: {segmentation} needs constituency on the source side: name an annotator for it in the data "
            "set's `syntax`."
        )
    return [project.layout.path("brackets", dataset=dataset, annotator=annotator, split="train", side="source")]


def used_annotations(project: Project, *, dataset: str, annotator: str, side: str, split: str) -> list[str]:
    """List the annotations that an annotator is used for on a side of a split. Raises `UserError` if there are none."""
    annotator_of(project, dataset=dataset, annotator=annotator)
    annotations = project.dataset(dataset).annotations_by(annotator, side, split)
    if not annotations:
        raise UserError(
            f"{dataset}: the annotator {annotator} is not used on the {side} side: name it in the data set's `syntax`."
        )
    return list(annotations)


def labels_of_features(project: Project, *, dataset: str, annotator: str, side: str) -> str:
    """Return the label vocabulary of features: that of the training split, even for the trees of treebanks."""
    settings = project.dataset(dataset)
    if not settings.annotations_by(annotator, side):
        annotator = settings.syntax.get(side, {}).get("dependencies", annotator)
    return project.layout.path("labels", dataset=dataset, annotator=annotator, side=side)


# Training


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
    return [path_of_run(project, "model", project.start_run(run))]


def published_model(project: Project, *, run: RunSettings) -> list[str]:
    """List the files of the published model that a run is."""
    return list(map(str, published_files(project.published_model(run.system))))


def label_files(project: Project, *, run: RunSettings) -> dict[str, dict[str, str]]:
    """Return the label vocabularies that a run reads, by side and annotator."""
    return run.label_files(project.layout)


def label_paths(project: Project, *, run: RunSettings) -> list[str]:
    """List the label vocabularies that a run reads."""
    return [path for paths in label_files(project, run=run).values() for path in paths.values()]


# GPUs


class SharedGpus(NamedTuple):
    """How many jobs may share a GPU, and the resource `gpu`: so many slots on each of them."""

    jobs: int
    slots: int


def shared_gpus(project: Project, roots: Iterable[str], *, visible: int) -> SharedGpus:
    """Return how jobs share GPUs: as config.yaml says, or else as the strictest of the scales with these `roots`.

    `visible` is the number of GPUs here. Training that asks for more gets its slots, and says itself what is missing.
    """
    scales = (project.scale(project.layout.scale(root)) for root in roots)
    jobs = project.settings.machine.jobs_per_gpu or min((scale.jobs_per_gpu for scale in scales), default=1)
    return SharedGpus(jobs, jobs * max(visible, project.settings.gpus))
