"""The files of the data sets that config.yaml names: texts, annotation, features, models of annotators, reports."""

from collections.abc import Iterator, Mapping

from nmtcore.config.datasets import GOLD, DatasetSettings
from nmtcore.config.features import FEATURES
from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.planning.annotation import model_files


def configured_tokens(project: Project) -> list[str]:
    """Give the subwords of every split, at the configured scale."""
    return [
        project.layout.path("tokens", **_features(project, dataset), split=split, side=side)
        for dataset in _datasets(project)
        for split in dataset.splits
        for side in dataset.sides(split)
    ]


def configured_annotation(project: Project) -> list[str]:
    """Give annotation and syntactic features of every split by every annotator that the data sets use."""
    return [
        path for dataset in _datasets(project) for path in (*_annotations(project, dataset), *_syntax(project, dataset))
    ]


def configured_comparisons(project: Project) -> list[str]:
    """Give the comparisons of every parser with its data set's treebanks; where there is none, a `UserError`."""
    files = [path for dataset in _datasets(project) for path in _comparisons(project, dataset)]
    if not files:
        names = ", ".join(project.settings.datasets)
        raise UserError(f"None of {names} has a treebank and a parser to compare with it.")
    return files


def configured_annotator_models(project: Project) -> list[str]:
    """Give the models that the annotators read and that must be downloaded."""
    return [
        path
        for dataset in _datasets(project)
        for annotator in dataset.annotators.values()
        for path in model_files(project, annotator)
    ]


def configured_reports(project: Project) -> list[str]:
    """Give what reading, filtering and selecting report."""
    path, files = project.layout.path, []
    for dataset in _datasets(project):
        files += [path("raw_report", dataset=dataset.name, split=split) for split in dataset.splits]
        files += [path("pairs_report", dataset=dataset.name, split=split) for split in dataset.splits]
        files += [path("selection_report", dataset=dataset.name)] if dataset.selection is not None else []
    return files


def configured_annotation_reports(project: Project) -> list[str]:
    """Give what gathering the annotations reports."""
    return [
        project.layout.path("annotation_report", **names) for dataset in _datasets(project) for names in _used(dataset)
    ]


def configured_labels(project: Project) -> list[str]:
    """Give the label vocabularies."""
    return [
        project.layout.path("labels", dataset=dataset.name, annotator=names["annotator"], side=names["side"])
        for dataset in _datasets(project)
        for names in _used(dataset)
        if names["split"] == "train"
    ]


def published_sizes(project: Project, what: str) -> dict[str, Mapping[str, int]]:
    """Give sizes that papers tell, of pairs or of tags, by data set."""
    return {dataset.name: getattr(dataset.published, what) for dataset in _datasets(project)}


def _datasets(project: Project) -> Iterator[DatasetSettings]:
    return map(project.dataset, project.settings.datasets)


def _features(project: Project, dataset: DatasetSettings) -> dict[str, str]:
    """Give the names that the features of a data set have at the configured scale."""
    segmentation = project.segmentation(dataset, project.scale(project.settings.scale))
    return {"dataset": dataset.name, "segmentation": segmentation.name}


def _used(dataset: DatasetSettings) -> list[dict[str, str]]:
    """Give the names of every annotation that a data set asks for."""
    return [
        {"dataset": dataset.name, "annotator": annotator, "split": split, "side": side}
        for split in dataset.splits
        for side in dataset.sides(split)
        for annotator in dict.fromkeys(dataset.syntax.get(side, {}).values())
    ]


def _annotations(project: Project, dataset: DatasetSettings) -> Iterator[str]:
    """Give annotation files, and linearised parses beside those that have constituents."""
    for names in _used(dataset):
        yield project.layout.path("annotation", **names)
        if "constituency" in dataset.annotations_by(names["annotator"], names["side"]):
            yield project.layout.path("brackets", **names)


def _syntax(project: Project, dataset: DatasetSettings) -> Iterator[str]:
    """Give the features of every annotator that gives a kind of annotation which features are made of."""
    made = {feature.annotation for feature in FEATURES.values()}
    for names in _used(dataset):
        if made.intersection(dataset.annotations_by(names["annotator"], names["side"])):
            yield project.layout.path("syntax", **names | _features(project, dataset))


def _comparisons(project: Project, dataset: DatasetSettings) -> Iterator[str]:
    """Give the comparisons of each parser with the treebanks that a data set names."""
    gold = dataset.gold_annotator
    for names in _used(dataset):
        parsed = "dependencies" in dataset.annotations_by(names["annotator"], names["side"])
        if parsed and gold not in (None, names["annotator"]) and names["split"].startswith(GOLD):
            yield project.layout.path("comparison", **names, other=gold)
