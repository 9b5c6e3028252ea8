"""Inputs of the jobs of a run: features, pairs, trees, labels, first weights, scores of each seed."""

from nmtcore.config.datasets import GOLD
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.planning.features import segmentation_folder


def feature_files(project: Project, *, run: RunSettings, splits: str) -> list[str]:
    """List the features that a run reads; `splits` is a property of `RunSettings` such as "tests"."""
    return [path for split in getattr(run, splits) for path in split_features(project, run=run, split=split)]


def split_features(project: Project, *, run: RunSettings, split: str) -> list[str]:
    """List the features that a run reads of one split."""
    folder = run.feature_folder(project.layout)
    return [f"{folder}/{name}" for name in run.feature_files(split)]


def target_tags(project: Project, *, run: RunSettings, split: str) -> list[str]:
    """List the tags of the target side of a split; an empty list if the data set names no annotator for them."""
    annotator = project.dataset(run.dataset).syntax.get("target", {}).get("tags")
    if annotator is None:
        return []
    names = {"dataset": run.dataset, "annotator": annotator, "split": split, "side": "target"}
    return [project.layout.path("annotation", **names)]


def attention_treebanks(project: Project, *, run: RunSettings) -> tuple[str, ...]:
    """Name the gold treebanks to parse with the run's attention heads; none if its encoder has no such heads."""
    dataset = project.dataset(run.dataset)
    has_heads = run.base == "transformer" and run.external is None
    return dataset.source_treebanks(GOLD) if has_heads and dataset.gold_annotator else ()


def treebank_files(project: Project, *, run: RunSettings, split: str) -> list[str]:
    """List the pairs of a gold treebank and its gold trees of the source side, in this order."""
    return gold_files(project, dataset=run.dataset, split=split)


def gold_files(project: Project, *, dataset: str, split: str) -> list[str]:
    """List the pairs of a data set's gold treebank and its gold trees of the source side, in this order."""
    names = {"dataset": dataset, "split": split}
    annotator = project.dataset(dataset).gold_annotator
    trees = project.layout.path("annotation", **names, annotator=annotator, side="source")
    return [project.layout.path("pairs", **names), trees]


def pair_files(project: Project, *, run: RunSettings, splits: str) -> list[str]:
    """List the sentence pairs of some splits of a run."""
    return [project.layout.path("pairs", dataset=run.dataset, split=split) for split in getattr(run, splits)]


def tree_files(project: Project, *, run: RunSettings, splits: str) -> list[str]:
    """List the trees that a run's own parses of some splits are compared with, where there are any."""
    annotators = {
        split: run.gold_annotator if split in run.gold else run.tree_annotator for split in getattr(run, splits)
    }
    return [
        project.layout.path("annotation", dataset=run.dataset, annotator=name, split=split, side="source")
        for split, name in annotators.items()
        if name is not None
    ]


def segmentation_of_run(project: Project, *, run: RunSettings) -> str:
    """Return the folder of a run's segmentation."""
    return segmentation_folder(project, dataset=run.dataset, segmentation=run.segmentation.name)


def start_model(project: Project, *, run: RunSettings) -> list[str]:
    """List the model that a run starts from; an empty list if it starts from random weights."""
    if run.start_from is None:
        return []
    names = {"scale": run.scale, "dataset": run.dataset, "seed": run.seed}
    return [project.layout.path("model", **names, system=run.start_from)]


def label_files(project: Project, *, run: RunSettings) -> dict[str, dict[str, str]]:
    """Return the label vocabularies that a run reads, by side and annotator."""
    return run.label_files(project.layout)


def label_paths(project: Project, *, run: RunSettings) -> list[str]:
    """List the label vocabularies that a run reads."""
    return [path for paths in label_files(project, run=run).values() for path in paths.values()]


def seed_scores(project: Project, *, root: str, dataset: str, system: str, score: str) -> list[str]:
    """List the scores of each configured seed (of an external system: that has translations) for a summary."""
    file_type = {"gold.uas": "gold_scores", "comet": "comet_scores"}.get(score, "scores")
    names = {"scale": project.layout.scale(root), "dataset": dataset, "system": system}
    return [project.layout.path(file_type, **names, seed=seed) for seed in project.seeds(dataset, system)]


def summary_seeds(project: Project, *, dataset: str, system: str) -> list[int]:
    """Return the seeds of a system's summary, in the order of `seed_scores`."""
    return list(project.seeds(dataset, system))
