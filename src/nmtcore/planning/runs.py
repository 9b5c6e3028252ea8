"""Inputs of the jobs of a run: features, pairs, trees, labels, first weights, scores of each seed."""

from collections.abc import Sequence

from nmtcore.config.datasets import GOLD, metric_names
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.config.typed import choose
from nmtcore.errors import UserError
from nmtcore.planning.features import segmentation_folder


def feature_files(project: Project, *, run: RunSettings, splits: str) -> list[str]:
    """List the features that a run reads; `splits` is a property of `RunSettings` such as "tests"."""
    return [path for split in getattr(run, splits) for path in split_features(project, run=run, split=split)]


def split_features(project: Project, *, run: RunSettings, split: str) -> list[str]:
    """List the features that a run reads of one split."""
    folder = run.feature_folder(project.layout)
    return [f"{folder}/{name}" for name in run.feature_files(split)]


def translation_folders(project: Project, *, run: RunSettings) -> list[str]:
    """List the folders of a run's translations, one per test."""
    return _split_folders(project, run, "hypotheses", run.tests)


def parse_folders(project: Project, *, run: RunSettings) -> list[str]:
    """List the folders of a run's parses, one per gold treebank. Raises `UserError` if it parses none."""
    _check_parses_gold(run)
    return _split_folders(project, run, "gold_parses", run.gold)


def _split_folders(project: Project, run: RunSettings, file_type: str, splits: Sequence[str]) -> list[str]:
    names = {key: getattr(run, key) for key in ("scale", "dataset", "system", "seed")}
    return [project.layout.path(file_type, **names, split=split) for split in splits]


def _check_parses_gold(run: RunSettings) -> None:
    if not run.parses:
        raise UserError(f"{run.system} predicts no trees, so it does not parse treebanks.")
    if not run.gold:
        raise UserError(_missing_trees(run, "gold.uas"))


def measured_features(project: Project, *, run: RunSettings, split: str, measure: str) -> list[str]:
    """List the features of a split that a rule reads which applies a run's model to it.

    Raises `UserError` if the model cannot do what the rule is for, or the data set has no such split.
    """
    noun, splits = "test split", run.tests
    if measure == "parse_gold":
        _check_parses_gold(run)
        noun, splits = "gold treebank", run.gold
    if run.external is not None:
        raise UserError(f"{run.system} is external, so it has no model, only translations and scores.")
    if measure == "score_heads":
        noun, splits = "gold treebank of the source side", attention_treebanks(project, run=run)
        if run.base != "transformer":
            raise UserError(f"{run.system} is {run.base}: its encoder has no attention heads.")
    if measure == "measure_gates" and not run.has_gates:
        raise UserError(f"{run.system} has no gate in the decoder; ask for the gates of sa_nmt_shared.")
    if measure == "score_contrasts":
        noun, splits = "split of contrastive pairs", project.dataset(run.dataset).contrasts
        if run.generates_tags:
            raise UserError(f"{run.system} generates tags among the words, so no probability can be computed.")
    if not splits:
        raise UserError(f"{run.dataset} has no {noun}.")
    choose(split, splits, noun=noun, where=run.dataset)
    return split_features(project, run=run, split=split)


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


def gold_trees(project: Project, *, run: RunSettings, split: str) -> str:
    """Return the file of the gold trees of a treebank's source side."""
    return gold_files(project, dataset=run.dataset, split=split)[1]


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
    if run.start is None:
        return []
    dataset, system = run.start
    return [project.layout.path("model", scale=run.scale, dataset=dataset, system=system, seed=run.seed)]


def label_files(project: Project, *, run: RunSettings) -> dict[str, dict[str, str]]:
    """Return the label vocabularies that a run reads, by side and annotator."""
    return run.label_files(project.layout)


def label_paths(project: Project, *, run: RunSettings) -> list[str]:
    """List the label vocabularies that a run reads."""
    return [path for paths in label_files(project, run=run).values() for path in paths.values()]


def seed_scores(project: Project, *, root: str, dataset: str, system: str, score: str) -> list[str]:
    """List the scores of each configured seed (of an external system: that has translations) for a summary.

    Raises `UserError` if the system has no such score.
    """
    run = project.run(dataset, system, project.layout.scale(root), project.seeds(dataset, system)[0])
    if score != "comet" and score not in run.scores:
        raise UserError(_missing_score(run, score))
    file_type = {"gold.uas": "gold_scores", "comet": "comet_scores"}.get(score, "scores")
    names = {"scale": project.layout.scale(root), "dataset": dataset, "system": system}
    return [project.layout.path(file_type, **names, seed=seed) for seed in project.seeds(dataset, system)]


def summary_seeds(project: Project, *, dataset: str, system: str) -> list[int]:
    """Return the seeds of a system's summary, in the order of `seed_scores`."""
    return list(project.seeds(dataset, system))


def _missing_score(run: RunSettings, score: str) -> str:
    """Say why a run has no such score, and which it has instead."""
    if score in metric_names():
        return (
            f"{run.dataset} is not scored by {score}: ask for {run.system}.bleu, or add {score} to the `metrics` of "
            "the data set's `evaluation`."
        )
    if not run.parses:
        return f"{run.system} predicts no trees, so it has no attachment score; ask for its .bleu."
    compared = {"uas": "the trees of a parser", "gold.uas": "gold trees"}
    if run.tree_comparison == "chain":
        compared["uas"] = "the chain of previous words"
    others = [f"its .{own}, which compares it with {compared[own]}" for own in run.scores if own in compared]
    return f"{_missing_trees(run, score)} Ask for {' or '.join(others) or 'its .bleu'}."


def _missing_trees(run: RunSettings, score: str) -> str:
    """Say which trees are missing for an attachment score of a run that parses."""
    if score == "uas":
        return (
            f"{run.system} learns its trees from no parser, and {run.dataset} names none to compare them with "
            "(`syntax: {source: {dependencies: NAME}}`)."
        )
    if run.tree_comparison == "chain":
        return f"{run.system} predicts chains of previous words, which are not compared with gold trees."
    return f"{run.dataset} has no gold treebank (a split gold_NAME) to compare {run.system} with."
