# What a run reads and leaves: features, trees, labels, first weights, scores.
from functools import cache
from pathlib import Path

from nmtcore.config.configured import configured_runs as runs_of_project
from nmtcore.errors import UserError


@explained
def training_features(wildcards):
    """The features that training reads; says which settings of the system its scale overrides."""
    run = run_of(wildcards)
    for setting in PROJECT.overridden(run.dataset, run.system, run.scale):
        warn(str(setting))
    return feature_files(run, run.training_splits)


def feature_files(run, splits):
    """The features of `splits` that a run reads."""
    folder = f"{RESULTS}/{run.dataset}/features/{run.segmentation.name}"
    return [f"{folder}/{name}" for split in splits for name in run.feature_files(split)]


def annotation_files(run, splits):
    """The trees that a run's own trees are compared with."""
    annotator = run.syntax.get("source", {}).get("trees")
    folder = f"{RESULTS}/{run.dataset}/annotation"
    return [
        f"{folder}/{run.gold_annotator if split in run.gold else annotator}/{split}.source.parquet"
        for split in splits
        if annotator
    ]


def start_model(run):
    """The model whose weights a run starts from, where it does."""
    if run.start_from is None:
        return []
    folder = f"{LAYOUT.root(run.scale)}/{run.dataset}/{run.start_from}"
    return [f"{folder}/seed{run.seed}/model"]


def label_files(run):
    """The label vocabularies that a run reads, by side and annotator."""
    return {
        side: {
            annotator: f"{RESULTS}/{run.dataset}/annotation/{annotator}/{side}.labels.json"
            for annotator in annotators.values()
        }
        for side, annotators in run.syntax.items()
    }


def segmentation_folder(dataset, name):
    """Where a data set's segmentation lies: in another one's folder, where it uses that."""
    owner = PROJECT.dataset(dataset).segmentation_from or dataset
    return f"{RESULTS}/{owner}/segmentation/{name}"


@cache
def configured_runs():
    """Every run that config.yaml asks for; says what its patterns leave out."""
    runs, left_out = runs_of_project(PROJECT)
    for sentence in left_out:
        warn(sentence)
    return runs


@explained
def configured_scores(wildcards=None):
    return [
        f"{LAYOUT.root(run.scale)}/{run.dataset}/{run.system}.{ending}"
        for run in configured_runs()
        for ending in run.scores
    ]


def configured_results(score):
    """An input function: the results of a kind of score, of the configured systems that have it."""

    @explained
    def results(wildcards):
        return [
            path
            for path in dict.fromkeys(configured_scores())
            if Path(path).name.split(".", 1)[1] == score
        ]

    return results


@explained
def configured_histories(wildcards):
    """The training logs of the configured runs."""
    runs = configured_runs()
    if not runs:
        raise UserError(
            "A table of systems needs `datasets` and `systems` in config.yaml, or on the command line."
        )
    return [
        f"{LAYOUT.root(run.scale)}/{run.dataset}/{run.system}/seed{run.seed}/training.jsonl"
        for run in runs
    ]


@explained
def configured_models(wildcards):
    return [
        f"{LAYOUT.root(run.scale)}/{run.dataset}/{run.system}/seed{run.seed}/model"
        for run in configured_runs()
    ]
