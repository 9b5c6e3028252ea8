"""What annotation reads: models of parsers, shards, selections."""

from collections.abc import Iterable

from nmtcore.annotation.models import missing_models
from nmtcore.config.annotator_models import model_at_hand
from nmtcore.config.annotators import ANNOTATORS, AnnotatorSettings
from nmtcore.config.changes import Tracked
from nmtcore.config.defaults import with_defaults
from nmtcore.config.project import Project
from nmtcore.config.typed import choose, plain


def annotator_of(project: Project, *, dataset: str, annotator: str) -> AnnotatorSettings:
    """Give the settings of a data set's annotator; one that it does not have is a `UserError`."""
    annotators = project.dataset(dataset).annotators
    choose(annotator, annotators, what="annotator", where=dataset)
    return annotators[annotator]


def tracked_annotator(project: Project, *, dataset: str, annotator: str) -> Tracked:
    """Give an annotation the settings of its annotator."""
    settings = annotator_of(project, dataset=dataset, annotator=annotator)
    entry = ANNOTATORS.entry_of(settings)
    return Tracked(entry, {"annotators": {annotator: with_defaults(settings, entry)}})


def annotator_memory(project: Project, *, dataset: str, annotator: str) -> int:
    """Give the megabytes of an annotator's job: what Java may take, and what stands around it."""
    settings = annotator_of(project, dataset=dataset, annotator=annotator)
    return max(6000, getattr(settings, "memory_mb", 0) + 2000)


def language(project: Project, *, dataset: str, side: str) -> str:
    """Give the language of a side of a data set."""
    return project.dataset(dataset).language(side)


def annotator_models(project: Project, *, dataset: str, annotator: str) -> list[str]:
    """Give the files of an annotator's models that are not at hand and that the workflow can fetch."""
    return model_files(project, annotator_of(project, dataset=dataset, annotator=annotator))


def model_files(project: Project, annotator: AnnotatorSettings) -> list[str]:
    """Give the files of the models of some annotator's settings that are not at hand and can be fetched."""
    tool, folders = ANNOTATORS.name_of(annotator), project.settings.own_model_folders
    return [
        project.layout.path("download", file=file.name)
        for name in annotator.models
        if name in project.model_files and not model_at_hand(name, folders, tool=tool)
        for file in project.annotator_model(name).files
    ]


def annotators_without_models(project: Project, annotators: Iterable[tuple[str, str]]) -> list[str]:
    """Give a sentence for each annotator, `(data set, name)`, whose model is neither at hand nor can be fetched."""
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
    """Give the shards of an annotation: the training split has as many as the annotator says, any other one."""
    settings = annotator_of(project, dataset=dataset, annotator=annotator)
    names = {"dataset": dataset, "annotator": annotator, "split": split, "side": side}
    shards = settings.shards if split == "train" else 1
    return [project.layout.path("annotation_shard", **names, shard=shard, shards=shards) for shard in range(shards)]


def selection_file(project: Project, *, dataset: str, split: str = "train") -> list[str]:
    """Give the file that says which pairs of the training split are used, where the data set selects some."""
    if project.dataset(dataset).selection is None or split != "train":
        return []
    return [project.layout.path("selection", dataset=dataset)]


def tracked_selection(project: Project, *, dataset: str) -> Tracked:
    """Give a selection how the data set selects training pairs, as plain values."""
    selection = project.dataset(dataset).selection
    return Tracked(plain(selection), with_defaults(selection, plain(selection)))


def selection_annotations(project: Project, *, dataset: str) -> list[str]:
    """Give the annotations of the training split without which a pair is not used."""
    settings = project.dataset(dataset)
    if settings.selection is None:
        return []
    names = {"dataset": dataset, "split": "train"}
    return [
        project.layout.path("annotation", **names, side=side, annotator=settings.syntax[side][kind])
        for side, kinds in settings.selection.parsed.items()
        for kind in kinds
    ]
