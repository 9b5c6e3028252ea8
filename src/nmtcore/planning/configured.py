"""Files of what config.yaml selects: scores and models of runs, features and annotation of data sets, plain tables."""

from collections.abc import Iterable, Iterator, Mapping

from nmtcore.config.assembly import MissingAnnotation
from nmtcore.config.datasets import GOLD, DatasetSettings
from nmtcore.config.features import FEATURES
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError
from nmtcore.planning.annotation import model_files, parsed_sides
from nmtcore.planning.evaluation import missing_seed_notes
from nmtcore.planning.training import path_of_run


def configured_runs(project: Project) -> tuple[list[RunSettings], list[str]]:
    """Return every configured run, and one sentence per data set and reason about what is left out.

    A system that only matches a pattern is left out of a data set without the annotation or treebank that it needs. For
    a system that config.yaml names in full, this raises `MissingAnnotation`. Of an external system, seeds without
    translations are left out.
    """
    runs: list[RunSettings] = []
    left_out: dict[tuple[str, str], list[str]] = {}
    for dataset in project.settings.datasets:
        for system in project.settings.systems:
            try:
                seeds = project.seeds(dataset, system)
                runs += [project.run(dataset, system, project.settings.scale, seed) for seed in seeds]
            except MissingAnnotation as error:
                if system not in project.chosen_by_pattern and not project.dataset(dataset).is_treebank:
                    raise
                left_out.setdefault((dataset, error.missing), []).append(system)
    sentences = [
        f"{name} has {missing}: {', '.join(systems)} {'is' if len(systems) == 1 else 'are'} left out."
        for (name, missing), systems in left_out.items()
    ]
    for dataset, system in dict.fromkeys((run.dataset, run.system) for run in runs if run.external is not None):
        sentences += missing_seed_notes(project, dataset=dataset, system=system)
    return runs, sentences


def configured_scores(project: Project, *, runs: Iterable[RunSettings]) -> list[str]:
    """List the summaries of the runs' systems."""
    summaries = [
        project.layout.path("summary", scale=run.scale, dataset=run.dataset, system=run.system, score=score)
        for run in runs
        for score in run.scores
    ]
    return list(dict.fromkeys(summaries))  # a system has one run per seed


def configured_models(project: Project, *, runs: Iterable[RunSettings]) -> list[str]:
    """List the models of the runs that are trained here."""
    return [path_of_run(project, "model", run) for run in runs if run.external is None]


def configured_datasets(project: Project) -> list[DatasetSettings]:
    """Return the settings of the configured data sets."""
    return list(map(project.dataset, project.settings.datasets))


def configured_tokens(project: Project) -> list[str]:
    """List the subword files of every split at the configured scale."""
    return [
        project.layout.path("tokens", **_feature_names(project, dataset), split=split, side=side)
        for dataset in configured_datasets(project)
        if not dataset.is_treebank
        for split in dataset.splits
        for side in dataset.sides(split)
    ]


def annotation_names(dataset: DatasetSettings) -> list[dict[str, str]]:
    """Return the names in the path of every annotation that a data set uses."""
    return [
        {"dataset": dataset.name, "annotator": annotator, "split": split, "side": side}
        for split in dataset.splits
        for side in dataset.annotated_sides(split)
        for annotator in dict.fromkeys(dataset.syntax.get(side, {}).values())
    ]


def configured_annotation(project: Project) -> list[str]:
    """List the annotation and the syntactic features of every split by every annotator that the data sets use."""
    return [path for dataset in configured_datasets(project) for path in _annotation_files(project, dataset)]


def _annotation_files(project: Project, dataset: DatasetSettings) -> Iterator[str]:
    """Yield annotations, linearised parses of those with constituents, and the features of those that give some."""
    featured = {feature.annotation for feature in FEATURES.values()}
    for names in annotation_names(dataset):
        given = dataset.annotations_by(names["annotator"], names["side"])
        yield project.layout.path("annotation", **names)
        if "constituency" in given:
            yield project.layout.path("brackets", **names)
        if featured.intersection(given):
            yield project.layout.path("syntax", **names | _feature_names(project, dataset))


def configured_annotator_models(project: Project) -> list[str]:
    """List the models that the annotators need and the workflow has to download."""
    annotators = (annotator for dataset in configured_datasets(project) for annotator in dataset.annotators.values())
    return [path for annotator in annotators for path in model_files(project, annotator)]


def _feature_names(project: Project, dataset: DatasetSettings) -> dict[str, str]:
    """Return the names in the paths of a data set's features at the configured scale."""
    segmentation = project.segmentation(dataset, project.scale(project.settings.scale))
    return {"dataset": dataset.name, "segmentation": segmentation.name}


# Plain tables


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
