"""The runs that config.yaml asks for with what they leave, and the systems that its patterns leave out."""

from collections.abc import Iterable

from nmtcore.config.needs import MissingAnnotation
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError

SHOWN = 5
"""Systems that a sentence names before it counts them."""


def configured_runs(project: Project) -> tuple[list[RunSettings], list[str]]:
    """Give every configured run, and one sentence per data set and reason that says which systems are left out.

    A system that only a pattern matches is left out where the data set lacks an annotation or a treebank for it. One
    that is named in full raises `MissingAnnotation` there.
    """
    runs: list[RunSettings] = []
    left_out: dict[tuple[str, str], list[str]] = {}
    for dataset in project.settings.datasets:
        for system in project.settings.systems:
            try:
                runs += [project.run(dataset, system, project.settings.scale, seed) for seed in project.settings.seeds]
            except MissingAnnotation as error:
                if system not in project.chosen_by_pattern:
                    raise
                left_out.setdefault((dataset, error.what), []).append(system)
    return runs, [
        f"{dataset} names {what}: {_named(systems)} left out." for (dataset, what), systems in left_out.items()
    ]


def _named(systems: list[str]) -> str:
    if len(systems) > SHOWN:
        return f"{', '.join(systems[:SHOWN])} and {len(systems) - SHOWN} more systems are"
    return f"{', '.join(systems)} {'is' if len(systems) == 1 else 'are'}"


def configured_scores(project: Project, *, runs: Iterable[RunSettings], score: str | None = None) -> list[str]:
    """Give the scores of the runs' systems: all that each has, or those of one kind."""
    found = [
        project.layout.path("summary", scale=run.scale, dataset=run.dataset, system=run.system, score=ending)
        for run in runs
        for ending in run.scores
        if score in (None, ending)
    ]
    return list(dict.fromkeys(found))  # a system has several runs


def configured_models(project: Project, *, runs: Iterable[RunSettings]) -> list[str]:
    """Give the models of runs."""
    return [_of_run(project, "model", run) for run in runs]


def configured_histories(project: Project, *, runs: list[RunSettings]) -> list[str]:
    """Give the training logs of runs, which a table of systems needs at least one of."""
    if not runs:
        raise UserError("A table of systems needs `datasets` and `systems` in config.yaml, or on the command line.")
    return [_of_run(project, "history", run) for run in runs]


def _of_run(project: Project, kind: str, run: RunSettings) -> str:
    names = {"scale": run.scale, "dataset": run.dataset, "system": run.system, "seed": run.seed}
    return project.layout.path(kind, **names)
