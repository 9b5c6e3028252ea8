"""What segmentation and features read: segmentations, linearised parses, labels, kinds of annotation."""

from nmtcore.config.datasets import SegmentationSettings
from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.planning.annotation import annotator_of


def segmentation_folder(project: Project, *, dataset: str, segmentation: str) -> str:
    """Give where a data set's segmentation lies: in another one's folder, where it uses that."""
    owner = project.dataset(dataset).segmentation_from or dataset
    return project.layout.path("segmentation", dataset=owner, segmentation=segmentation)


def training_linearised_parses(project: Project, *, dataset: str, segmentation: str) -> list[str]:
    """Give the linearised parses of the training sources, where a segmentation is learned from them too."""
    if SegmentationSettings.parse(segmentation).also is None:
        return []
    annotator = project.dataset(dataset).syntax.get("source", {}).get("constituency")
    if annotator is None:
        raise UserError(
            f"{dataset}: {segmentation} needs constituency on the source side: name its annotator in the data set's "
            "`syntax`."
        )
    return [project.layout.path("brackets", dataset=dataset, annotator=annotator, split="train", side="source")]


def used_annotations(project: Project, *, dataset: str, annotator: str, side: str, split: str) -> list[str]:
    """Give the kinds of annotation that an annotator is used for on a side of a split; none is a `UserError`."""
    annotator_of(project, dataset=dataset, annotator=annotator)
    kinds = project.dataset(dataset).kinds_of(annotator, side, split)
    if not kinds:
        raise UserError(
            f"{dataset}: the annotator {annotator} is not used on the {side} side: name it in the data set's `syntax`."
        )
    return list(kinds)


def labels_of_features(project: Project, *, dataset: str, annotator: str, side: str) -> str:
    """Give the labels that features are numbered by: those of the training split, also for the trees of treebanks."""
    settings = project.dataset(dataset)
    if not settings.kinds_of(annotator, side):
        annotator = settings.syntax.get(side, {}).get("dependencies", annotator)
    return project.layout.path("labels", dataset=dataset, annotator=annotator, side=side)
