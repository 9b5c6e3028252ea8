"""What a run's manifest says about its data: corpora, parsers, languages, with licences, from the configuration."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from nmtcore.config.corpora import FileSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.imported import published_files
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError
from nmtcore.planning.corpus import files_of

RUN_FILES = ("history", "scores", "metric_scores", "gold_scores")
"""The types of files of runs whose times make the tables of all runs and scores again."""


def manifest_sources(project: Project, *, run: RunSettings) -> dict[str, Any]:
    """Describe the data of a run, by the splits and parsers that it uses.

    Returns the data set's `description`, `licence`, `citation`, languages and `splits`; `files`: a row for each file of
    a corpus or of a parser's model, and one for a corpus or model without files; and `external`: what made the
    translations of an external system, whose files follow those of the corpora.
    """
    dataset = project.dataset(run.dataset)
    if run.external is None:
        splits = dict.fromkeys([*(run.training_splits if run.is_trained else ()), *run.tests, *run.gold])
        sources = _sources(project, dataset, splits, _annotators(dataset, run))
        published = run
        while published.start is not None:
            published = project.start_run(published)
        if published.imported is not None:
            imported = project.system(published.system).imported
            paths = published_files(project.published_model(published.system))
            said = {"name": imported.model, "licence": imported.licence, "citation": imported.citation}
            sources["files"] += _rows([FileSettings(path=str(path)) for path in paths], kind="model", **said)
        return {**sources, "external": None}
    sources, external = _sources(project, dataset, run.tests, ()), project.system(run.system).external
    files = [FileSettings(name=f"{split}/{Path(path).name}", path=path) for split, path in run.external.items()]
    sources["files"] += _rows(files, kind="translations", name=run.system, licence=external.licence, citation="")
    return {**sources, "external": external.source_note}


def reading_reports(project: Project) -> list[str]:
    """List the files of splits and annotations: if one is read or annotated, the licences are listed again."""
    return sorted(
        str(path) for file_type in ("raw_report", "annotation") for path in project.layout.existing(file_type)
    )


def read_datasets(project: Project) -> dict[str, dict[str, Any]]:
    """Describe the data sets of the results folder, by name: the splits that were read, the annotators that annotated.

    The descriptions are those of `manifest_sources`. Data sets that the configuration no longer has are left out.
    """
    used: dict[str, dict[str, set[str]]] = {}
    for path in filter(None, map(project.layout.parse, reading_reports(project))):
        used_names = used.setdefault(path["dataset"], {"split": set(), "annotator": set()})
        name = "split" if path.file_type == "raw_report" else "annotator"
        used_names[name].add(path[name])
    described = {}
    for name, used_names in sorted(used.items()):
        with suppress(UserError):
            dataset = project.dataset(name)
            splits = [split for split in dataset.splits if split in used_names["split"]]
            described[name] = _sources(
                project, dataset, splits, sorted(used_names["annotator"] & dataset.annotators.keys())
            )
    return described


def run_times(project: Project) -> dict[str, int]:
    """Return the times of the runs' files, on which the tables of all runs and scores depend."""
    files = [path for file_type in RUN_FILES for path in project.layout.existing(file_type)]
    return {str(path): path.stat().st_mtime_ns for path in sorted(files)}


def _sources(
    project: Project, dataset: DatasetSettings, splits: Iterable[str], annotators: Iterable[str]
) -> dict[str, Any]:
    used: dict[str, dict[str, None]] = {}
    for split in splits:
        for part in dataset.splits[split]:
            used.setdefault(part.corpus, {})[split] = None
    files = []
    for name, corpus_splits in used.items():
        corpus = dataset.corpora[name]
        files += _rows(
            files_of(corpus),
            kind="corpus",
            name=name if name in project.corpus_files else f"{dataset.name}/{name}",  # it is not shared
            splits=list(corpus_splits),
            licence=corpus.licence or dataset.licence,
            citation=corpus.citation or dataset.citation,
        )
    for annotator in annotators:
        names = dataset.annotators[annotator].models
        models = [project.annotator_model(name) for name in names if name in project.model_files]
        said = {
            key: "; ".join(dict.fromkeys(filter(None, (getattr(model, key) for model in models))))
            for key in ("licence", "citation")
        }
        if names:
            own_files = [file for model in models for file in model.files]
            files += _rows(own_files, kind="model", name=", ".join(names), annotator=annotator, **said)
    described = {key: getattr(dataset, key) for key in ("description", "licence", "citation", "source", "target")}
    return {**described, "splits": list(splits), "files": files}


def _rows(files: Sequence[FileSettings], **use: Any) -> list[dict[str, Any]]:
    """Make a row for each file of what is used, or one if it has none."""
    rows = [{"file": file.name, "path": file.path, "url": file.url, "sha256": file.sha256} for file in files]
    return [{**use, **row} for row in rows or [dict.fromkeys(("file", "path", "url", "sha256"))]]


def _annotators(dataset: DatasetSettings, run: RunSettings) -> list[str]:
    """Name the annotators of a run: of its features, of the trees that it is compared with, and of the selection."""
    names = [name for features in run.features.values() for name in features.values()]
    names += [run.tree_annotator, run.linearised_by, run.gold_annotator if run.gold or run.treebanks else None]
    if dataset.selection is not None:
        parsed = dataset.selection.parsed.items()
        names += [dataset.syntax[side][annotation] for side, annotations in parsed for annotation in annotations]
    return list(dict.fromkeys(filter(None, names)))
