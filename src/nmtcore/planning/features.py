"""Inputs and settings of the jobs for segmentation and features: segmentations, linearised parses, labels."""

from nmtcore.config.corpora import SegmentationSettings
from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.planning.annotation import annotator_of


def segmentation_folder(project: Project, *, dataset: str, segmentation: str) -> str:
    """Return the folder of a data set's segmentation, which may be that of another data set."""
    owner = project.dataset(dataset).segmentation_from or dataset
    return project.layout.path("segmentation", dataset=owner, segmentation=segmentation)


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
