"""The files of the data sets that config.yaml selects: annotation, features, annotators' models, reports."""

from collections.abc import Iterator, Mapping

from nmtcore.config.datasets import GOLD, DatasetSettings
from nmtcore.config.features import FEATURES
from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.planning.annotation import model_files
from nmtcore.planning.known_parsers import parsed_sides


def configured_tokens(project: Project) -> list[str]:
    """List the subword files of every split at the configured scale."""
    return [
        project.layout.path("tokens", **_feature_names(project, dataset), split=split, side=side)
        for dataset in _datasets(project)
        if not dataset.is_treebank
        for split in dataset.splits
        for side in dataset.sides(split)
    ]


def configured_annotation(project: Project) -> list[str]:
    """List the annotation and the syntactic features of every split by every annotator that the data sets use."""
    return [
        path for dataset in _datasets(project) for path in (*_annotations(project, dataset), *_syntax(project, dataset))
    ]


def configured_comparisons(project: Project) -> list[str]:
    """List the comparisons of parsers with their data set's treebanks. Raises `UserError` if there are none."""
    files = [path for dataset in _datasets(project) for path in _comparisons(project, dataset)]
    if not files:
        names = ", ".join(project.settings.datasets)
        raise UserError(f"None of {names} has both a treebank and a parser to compare with it.")
    return files


def configured_annotator_models(project: Project) -> list[str]:
    """List the models that the annotators need and the workflow has to download."""
    return [
        path
        for dataset in _datasets(project)
        for annotator in dataset.annotators.values()
        for path in model_files(project, annotator)
    ]


def configured_reports(project: Project) -> list[str]:
    """List the reports on reading, filtering and selecting."""
    path, files = project.layout.path, []
    for dataset in _datasets(project):
        files += [path("raw_report", dataset=dataset.name, split=split) for split in dataset.splits]
        files += [path("pairs_report", dataset=dataset.name, split=split) for split in dataset.splits]
        files += [path("selection_report", dataset=dataset.name)] if dataset.selection is not None else []
    return files


def configured_annotation_reports(project: Project) -> list[str]:
    """List the reports on annotations."""
    return [
        project.layout.path("annotation_report", **names)
        for dataset in _datasets(project)
        for names in _annotation_names(dataset)
    ]


def configured_labels(project: Project) -> list[str]:
    """List the label vocabularies."""
    return [
        project.layout.path("labels", dataset=dataset.name, annotator=names["annotator"], side=names["side"])
        for dataset in _datasets(project)
        for names in _annotation_names(dataset)
        if names["split"] == "train"
    ]


def published_sizes(project: Project, counted: str) -> dict[str, Mapping[str, int]]:
    """Return the published numbers of what is `counted`, "pairs" or "tags", by data set."""
    return {dataset.name: getattr(dataset.published, counted) for dataset in _datasets(project)}


def _datasets(project: Project) -> Iterator[DatasetSettings]:
    return map(project.dataset, project.settings.datasets)


def _feature_names(project: Project, dataset: DatasetSettings) -> dict[str, str]:
    """Return the names in the paths of a data set's features at the configured scale."""
    segmentation = project.segmentation(dataset, project.scale(project.settings.scale))
    return {"dataset": dataset.name, "segmentation": segmentation.name}


def _annotation_names(dataset: DatasetSettings) -> list[dict[str, str]]:
    """Return the names in the path of every annotation that a data set uses."""
    return [
        {"dataset": dataset.name, "annotator": annotator, "split": split, "side": side}
        for split in dataset.splits
        for side in dataset.annotated_sides(split)
        for annotator in dict.fromkeys(dataset.syntax.get(side, {}).values())
    ]


def _annotations(project: Project, dataset: DatasetSettings) -> Iterator[str]:
    """Yield the annotation files, and the linearised parses of annotations with constituents."""
    for names in _annotation_names(dataset):
        yield project.layout.path("annotation", **names)
        if "constituency" in dataset.annotations_by(names["annotator"], names["side"]):
            yield project.layout.path("brackets", **names)


def _syntax(project: Project, dataset: DatasetSettings) -> Iterator[str]:
    """Yield the features of every annotator whose annotations are turned into features."""
    used = {feature.annotation for feature in FEATURES.values()}
    for names in _annotation_names(dataset):
        if used.intersection(dataset.annotations_by(names["annotator"], names["side"])):
            yield project.layout.path("syntax", **names | _feature_names(project, dataset))


def _comparisons(project: Project, dataset: DatasetSettings) -> Iterator[str]:
    """Yield the comparisons of every parser of the data set with its treebanks, on the sides that it parses."""
    gold = dataset.gold_annotator
    for split in (split for split in dataset.splits if gold and split.startswith(GOLD)):
        for side in dataset.sides(split):
            names = {"dataset": dataset.name, "split": split, "side": side, "other": gold}
            for annotator in dataset.annotators:
                if annotator != gold and side in parsed_sides(project, dataset, annotator):
                    yield project.layout.path("comparison", **names, annotator=annotator)
