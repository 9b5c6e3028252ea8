"""The runs that config.yaml selects, their result files, and the systems that its patterns leave out."""

from collections.abc import Iterable
from typing import NamedTuple

from nmtcore.config.needs import MissingAnnotation
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError
from nmtcore.planning.external import missing_seed_notes
from nmtcore.planning.runs import attention_treebanks

SHOWN = 5
"""Number of systems that a message names; it only counts the others."""


class LeftOut(NamedTuple):
    """A system that is left out of a data set."""

    dataset: str
    system: str
    missing: str
    """What the data set lacks ("no treebank to ...")."""


def configured_runs(project: Project) -> tuple[list[RunSettings], list[str]]:
    """Return every configured run, and one sentence per data set and reason about the systems that are left out.

    A system that only matches a pattern is left out of a data set without the annotation or treebank that it needs. For
    a system that config.yaml names in full, this raises `MissingAnnotation`.
    """
    runs, left_out = _runs_and_left_out(project)
    systems: dict[tuple[str, str], list[str]] = {}
    for dataset, system, missing in left_out:
        systems.setdefault((dataset, missing), []).append(system)
    return runs, [
        *(
            f"{dataset} has {missing}: {_list_systems(names)} left out."
            for (dataset, missing), names in systems.items()
        ),
        *_left_out_seeds(project, runs),
    ]


def _left_out_seeds(project: Project, runs: Iterable[RunSettings]) -> list[str]:
    """Write a sentence for each external system that has no translations for some of the configured seeds."""
    sentences = []
    for dataset, system in dict.fromkeys((run.dataset, run.system) for run in runs if run.external is not None):
        sentences += missing_seed_notes(project, dataset=dataset, system=system)
    return sentences


def _runs_and_left_out(project: Project) -> tuple[list[RunSettings], list[LeftOut]]:
    runs: list[RunSettings] = []
    left_out: list[LeftOut] = []
    for dataset in project.settings.datasets:
        for system in project.settings.systems:
            try:
                seeds = project.seeds(dataset, system)
                runs += [project.run(dataset, system, project.settings.scale, seed) for seed in seeds]
            except MissingAnnotation as error:
                if system not in project.chosen_by_pattern and not project.dataset(dataset).is_treebank:
                    raise
                left_out.append(LeftOut(dataset, system, error.missing))
    return runs, left_out


def _list_systems(systems: list[str]) -> str:
    if len(systems) > SHOWN:
        return f"{', '.join(systems[:SHOWN])} and {len(systems) - SHOWN} more systems are"
    return f"{', '.join(systems)} {'is' if len(systems) == 1 else 'are'}"


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
    return [_run_path(project, "model", run) for run in runs if run.external is None]


def configured_heads(project: Project, *, runs: list[RunSettings]) -> list[str]:
    """List the scores of the attention heads of runs on gold treebanks. Raises `UserError` if there are none."""
    files = [
        _run_path(project, "head_scores", run, split=split)
        for run in runs
        for split in attention_treebanks(project, run=run)
    ]
    if not files:
        raise UserError(
            "A table of heads needs `datasets` with a gold treebank of the source side (a split gold_NAME), and "
            "`systems` whose base is the transformer, in config.yaml or on the command line."
        )
    return files


def configured_contrasts(project: Project, *, runs: Iterable[RunSettings]) -> list[str]:
    """List the scores of contrastive pairs of the runs that can score them. Raises `UserError` if there are none."""
    files = [
        _run_path(project, "contrast_scores", run, split=split)
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


def without_contrasts(project: Project, *, runs: Iterable[RunSettings]) -> list[str]:
    """Say of each configured system and data set that the table of contrastive pairs leaves out why it does."""
    reasons = {
        run.system: "was not trained here, so it has no probabilities"
        if run.external is not None
        else "generates tags among the words, so the probability of a text cannot be computed"
        for run in runs
        if run.external is not None or run.generates_tags
    }
    datasets = (name for name in project.settings.datasets if not project.dataset(name).contrasts)
    return [
        *(f"{system} is left out: it {reason}." for system, reason in reasons.items()),
        *(f"{name} is left out: it has no contrastive pairs." for name in datasets),
    ]


def _run_path(project: Project, file_type: str, run: RunSettings, **names: str) -> str:
    names |= {"scale": run.scale, "dataset": run.dataset, "system": run.system, "seed": run.seed}
    return project.layout.path(file_type, **names)
