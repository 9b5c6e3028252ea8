"""What a run's manifest says about its data: corpora, parsers, languages, with licences, from the configuration."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from nmtcore.config.annotators import ANNOTATORS, AnnotatorSettings
from nmtcore.config.corpora import FileSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError
from nmtcore.layout import ParsedPath


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

    A run's time is that of its scores or, without scores, of its log. `supertags` are those of the references of the
    data sets' tests, by data set and split, where `syntax` names an annotator for them.
    """
    states = {}
    for file_type in ("history", "scores", "comet_scores", "gold_scores"):
        for path in project.layout.existing(file_type):
            states[str(path)] = project.layout.parse(path), path.stat().st_mtime_ns
    supertags: dict[str, dict[str, str]] = {}
    for name in sorted({path["dataset"] for path, _ in states.values() if path is not None}):
        with suppress(UserError):  # the configuration no longer has it
            dataset = project.dataset(name)
            if annotator := dataset.syntax.get("target", {}).get("ccg"):
                names = {"dataset": name, "annotator": annotator, "side": "target"}
                supertags[name] = {
                    split: project.layout.path("annotation", **names, split=split) for split in dataset.tests
                }
    times = {path: time for path, (_, time) in sorted(states.items())}
    return {"supertags": supertags, "times": times}


def described_runs(project: Project, paths: Iterable[ParsedPath | None]) -> list[dict[str, Any]]:
    """Return the `names` (scale, data set, system, seed) and `sources` of the runs of some files, each run once."""
    keys = ("scale", "dataset", "system", "seed")
    runs = dict.fromkeys(tuple(path[key] for key in keys) for path in paths if path is not None)
    named = [dict(zip(keys, run, strict=True)) for run in sorted(runs)]
    return [{"names": names, "sources": _known_sources(project, names)} for names in named]


def _known_sources(project: Project, names: Mapping[str, str]) -> dict[str, Any] | None:
    try:
        run = project.run(names["dataset"], names["system"], names["scale"], int(names["seed"]))
        return manifest_sources(project, run=run)
    except UserError:
        return None


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
