"""What a run's manifest says about its data: corpora, parsers, languages, with licences, from the configuration."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from nmtcore.config.annotators import ANNOTATORS, AnnotatorSettings
from nmtcore.config.corpora import FileSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError

RUN_FILES = ("history", "scores", "comet_scores", "gold_scores")
"""The types of files of runs whose times make the tables of all runs and scores again."""


def manifest_sources(project: Project, *, run: RunSettings) -> dict[str, Any]:
    """Describe the data of a run, as plain values: the data set, its corpora and parsers that the run uses.

    `external` says what made the translations of an external system, and `translations` names their files and licence;
    both are None for others.
    """
    dataset = project.dataset(run.dataset)
    splits = dict.fromkeys([*run.training_splits, *run.tests, *run.gold] if run.external is None else run.tests)
    own: dict[str, Any] = {"external": None, "translations": None}
    if run.external is not None:
        external = project.system(run.system).external
        files = [{"name": Path(path).name, "path": path, "url": None, "sha256": None} for path in run.external.values()]
        own = {"external": external.source_note, "translations": {"licence": external.licence, "files": files}}
    return {**_sources(project, dataset, splits, _annotators(dataset, run)), **own}


def dataset_sources(project: Project, *, dataset: str) -> dict[str, Any]:
    """Describe a data set with all its splits and annotators, whatever is used of it (`used_sources`)."""
    settings = project.dataset(dataset)
    return _sources(project, settings, settings.splits, settings.annotators)


def read_datasets(project: Project) -> dict[str, Any]:
    """Describe the `datasets` of the results folder that were read, by name, as `dataset_sources` does.

    The licences are listed again when a split is read or annotated: `files` are those of splits and annotations. Data
    sets that the configuration no longer has are left out.
    """
    paths = [path for file_type in ("raw_report", "annotation") for path in project.layout.existing(file_type)]
    described = {}
    for name in sorted({parsed["dataset"] for path in paths if (parsed := project.layout.parse(path))}):
        with suppress(UserError):
            described[name] = dataset_sources(project, dataset=name)
    return {"datasets": described, "files": sorted(map(str, paths))}


def _sources(
    project: Project, dataset: DatasetSettings, splits: Iterable[str], annotators: Iterable[str]
) -> dict[str, Any]:
    return {
        **{key: getattr(dataset, key) for key in ("description", "licence", "citation", "source", "target")},
        "splits": {split: [part.corpus for part in dataset.splits[split]] for split in splits},
        "corpora": _corpora(project, dataset, splits),
        "models": [_model(project, name, dataset.annotators[name]) for name in annotators],
    }


def run_states(project: Project) -> dict[str, Any]:
    """Return what the tables of all runs and scores depend on: the `times` of the runs' files, and `supertags`.

    `supertags` are the files with those of the references of each data set's tests: {data set: {split: path}}.
    """
    files = [path for file_type in RUN_FILES for path in project.layout.existing(file_type)]
    supertags: dict[str, dict[str, str]] = {}
    for name in sorted({parsed["dataset"] for path in files if (parsed := project.layout.parse(path))}):
        with suppress(UserError):  # the configuration no longer has it
            dataset = project.dataset(name)
            if annotator := dataset.syntax.get("target", {}).get("ccg"):
                names = {"dataset": name, "annotator": annotator, "side": "target"}
                supertags[name] = {
                    split: project.layout.path("annotation", split=split, **names) for split in dataset.tests
                }
    return {"supertags": supertags, "times": {str(path): path.stat().st_mtime_ns for path in sorted(files)}}


def _corpora(project: Project, dataset: DatasetSettings, splits: Iterable[str]) -> list[dict[str, Any]]:
    """Describe the corpora of some splits; one that is not shared has the data set's name before its own."""
    used: dict[str, list[str]] = {}
    for split in splits:
        for part in dataset.splits[split]:
            used.setdefault(part.corpus, []).append(split)
    corpora = {name: dataset.corpora[name] for name in used}
    return [
        {
            "corpus": name if name in project.corpus_files else f"{dataset.name}/{name}",
            "splits": list(dict.fromkeys(used[name])),
            "licence": corpus.licence or dataset.licence,
            "citation": corpus.citation or dataset.citation,
            "files": [_file(file) for files in corpus.files.values() for file in files],
        }
        for name, corpus in corpora.items()
    ]


def _annotators(dataset: DatasetSettings, run: RunSettings) -> list[str]:
    """Name the annotators of a run: of its features, of the trees that it is compared with, and of the selection."""
    if run.external is not None:
        return []
    names = [name for features in run.features.values() for name in features.values()]
    names += [run.tree_annotator, run.linearised_by, run.gold_annotator if run.gold or run.treebanks else None]
    if dataset.selection is not None:
        parsed = dataset.selection.parsed.items()
        names += [dataset.syntax[side][annotation] for side, annotations in parsed for annotation in annotations]
    return list(dict.fromkeys(filter(None, names)))


def _model(project: Project, name: str, annotator: AnnotatorSettings) -> dict[str, Any]:
    models = [project.annotator_model(model) for model in annotator.models if model in project.model_files]
    return {
        "annotator": name,
        "tool": ANNOTATORS.name_of(annotator),
        "models": list(annotator.models),
        "licence": "; ".join(dict.fromkeys(filter(None, (model.licence for model in models)))),
        "citation": "; ".join(dict.fromkeys(filter(None, (model.citation for model in models)))),
        "files": [_file(file) for model in models for file in model.files],
    }


def _file(file: FileSettings) -> dict[str, Any]:
    return {"name": file.name, "path": file.path, "url": file.url, "sha256": file.sha256}
