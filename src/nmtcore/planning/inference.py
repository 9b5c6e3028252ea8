"""Inputs of the jobs that apply a run's model to a split: features, tags, gold trees."""

from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.config.typed import choose
from nmtcore.errors import UserError
from nmtcore.planning.training import split_features


def measured_features(project: Project, *, run: RunSettings, split: str, measure: str) -> list[str]:
    """List the features of a split that a rule reads which applies a run's model to it.

    Raises `UserError` if the model cannot do what the rule is for, or the data set has no such split.
    """
    noun, splits = "test split", run.tests
    if measure == "parse_gold":
        check_parses_gold(run)
        noun, splits = "gold treebank", run.gold
    if run.external is not None:
        raise UserError(f"{run.system} is external, so it has no model, only translations and scores.")
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


def check_parses_gold(run: RunSettings) -> None:
    """Raise `UserError` if a run parses no gold treebank."""
    if not run.parses:
        raise UserError(f"{run.system} predicts no trees, so it does not parse treebanks.")
    if not run.gold:
        raise UserError(
            f"There are no gold trees to compare {run.system} with: {run.dataset} has no gold treebank (a split "
            "gold_NAME), or the system predicts chains of previous words."
        )


def target_tags(project: Project, *, run: RunSettings, split: str) -> list[str]:
    """List the tags of the target side of a split; an empty list if the data set names no annotator for them."""
    annotator = project.dataset(run.dataset).syntax.get("target", {}).get("tags")
    if annotator is None:
        return []
    return [project.layout.path("annotation", dataset=run.dataset, annotator=annotator, split=split, side="target")]


def gold_trees(project: Project, *, dataset: str, split: str) -> str:
    """Return the file of the gold trees of a treebank's source side."""
    annotator = project.dataset(dataset).gold_annotator
    return project.layout.path("annotation", dataset=dataset, split=split, annotator=annotator, side="source")
