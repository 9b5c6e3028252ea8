"""The files of the plain tables of the configured data sets and systems, and of the indexes of what is there."""

from collections.abc import Iterable, Iterator, Mapping

from nmtcore.config.datasets import GOLD, DatasetSettings
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError
from nmtcore.planning.annotation import parsed_sides
from nmtcore.planning.configured import annotation_names, configured_datasets
from nmtcore.planning.training import path_of_run


def configured_reports(project: Project) -> list[str]:
    """List the reports on reading, filtering and selecting."""
    path, files = project.layout.path, []
    for dataset in configured_datasets(project):
        for report in ("raw_report", "pairs_report"):
            files += [path(report, dataset=dataset.name, split=split) for split in dataset.splits]
        files += [path("selection_report", dataset=dataset.name)] if dataset.selection is not None else []
    return files


def configured_annotation_reports(project: Project) -> list[str]:
    """List the reports on annotations."""
    names = (annotation for dataset in configured_datasets(project) for annotation in annotation_names(dataset))
    return [project.layout.path("annotation_report", **annotation) for annotation in names]


def configured_labels(project: Project) -> list[str]:
    """List the label vocabularies."""
    names = (annotation for dataset in configured_datasets(project) for annotation in annotation_names(dataset))
    keys = ("dataset", "annotator", "side")
    return [
        project.layout.path("labels", **{key: annotation[key] for key in keys})
        for annotation in names
        if annotation["split"] == "train"
    ]


def published_sizes(project: Project, counted: str) -> dict[str, Mapping[str, int]]:
    """Return the published numbers of what is `counted`, "pairs" or "tags", by data set."""
    return {dataset.name: getattr(dataset.published, counted) for dataset in configured_datasets(project)}


def configured_comparisons(project: Project) -> list[str]:
    """List the comparisons of parsers with their data set's treebanks. Raises `UserError` if there are none."""
    files = [path for dataset in configured_datasets(project) for path in _comparisons(project, dataset)]
    if not files:
        names = ", ".join(project.settings.datasets)
        raise UserError(f"None of {names} has both a treebank and a parser to compare with it.")
    return files


def _comparisons(project: Project, dataset: DatasetSettings) -> Iterator[str]:
    """Yield the comparisons of every parser of the data set with its treebanks, on the sides that it parses."""
    gold = dataset.gold_annotator
    for split in (split for split in dataset.splits if gold and split.startswith(GOLD)):
        for side in dataset.sides(split):
            names = {"dataset": dataset.name, "split": split, "side": side, "other": gold}
            for annotator in dataset.annotators:
                if annotator != gold and side in parsed_sides(dataset, annotator):
                    yield project.layout.path("comparison", **names, annotator=annotator)


def configured_contrasts(project: Project, *, runs: Iterable[RunSettings]) -> list[str]:
    """List the scores of contrastive pairs of the runs that can score them. Raises `UserError` if there are none."""
    files = [
        path_of_run(project, "contrast_scores", run, split=split)
        for run in runs
        if run.external is None and not run.generates_tags
        for split in project.dataset(run.dataset).contrasts
    ]
    if not files:
        raise UserError(
            "A table of contrastive pairs needs `datasets` that have some (a split contrast_NAME), and `systems` that "
            "are trained here and generate no tags, in config.yaml or on the command line."
        )
    return files
