"""The runs that config.yaml asks for, and the systems that its patterns leave out."""

from nmtcore.config.needs import MissingAnnotation
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings

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
