"""Inputs of the jobs that score runs, and of those that bring in translations made elsewhere; what the demo shows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmtcore.annotation.models import candidate_paths
from nmtcore.config.metrics import command_metric, command_metric_names, metric_file
from nmtcore.config.project import Project, ProjectSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.typed import choose
from nmtcore.errors import UserError
from nmtcore.planning.corpus import without_braces
from nmtcore.planning.inference import check_parses_gold
from nmtcore.planning.training import path_of_run

# Scores of a run


def translation_folders(project: Project, *, run: RunSettings) -> list[str]:
    """List the folders of a run's translations, one per test."""
    return [path_of_run(project, "hypotheses", run, split=split) for split in run.tests]


def parse_folders(project: Project, *, run: RunSettings) -> list[str]:
    """List the folders of a run's parses, one per gold treebank. Raises `UserError` if it parses none."""
    check_parses_gold(run)
    return [path_of_run(project, "gold_parses", run, split=split) for split in run.gold]


def pair_files(project: Project, *, run: RunSettings, splits: str) -> list[str]:
    """List the sentence pairs of some splits of a run, a property of `RunSettings` such as "tests"."""
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


def pairs_in_train(project: Project, *, run: RunSettings) -> list[str]:
    """List the counts of what the run's tests share with train, of tests that the filter `held_out` does not name.

    Data sets without this filter are not counted, nor are those of systems trained elsewhere.
    """
    held_out = project.dataset(run.dataset).held_out
    tests = [split for split in run.tests if split not in held_out] if held_out and run.is_trained else []
    return [project.layout.path("pairs_in_train", dataset=run.dataset, split=split) for split in tests]


# Summaries over seeds


def seed_scores(project: Project, *, root: str, dataset: str, system: str, score: str) -> list[str]:
    """List the scores of each configured seed (of an external system: that has translations) for a summary.

    Raises `UserError` if the system has no such score.
    """
    scale, seeds = project.layout.scale(root), project.seeds(dataset, system)
    runs = [project.run(dataset, system, scale, seed) for seed in seeds]
    if score in command_metric_names():
        return [path_of_run(project, "metric_scores", run, metric=score) for run in runs]
    if score not in runs[0].scores:
        raise UserError(
            f"{system} has no .{score} on {dataset}, only {', '.join(f'.{name}' for name in runs[0].scores)}: a metric "
            "must be among the `metrics` of the data set's `evaluation`; uas and gold.uas need a system that parses, "
            "and trees of a parser (`syntax: {source: {dependencies: NAME}}`) or of a treebank (a split gold_NAME)."
        )
    file_type = "gold_scores" if score == "gold.uas" else "scores"
    return [path_of_run(project, file_type, run) for run in runs]


def summary_seeds(project: Project, *, dataset: str, system: str) -> list[int]:
    """Return the seeds of a system's summary, in the order of `seed_scores`."""
    return list(project.seeds(dataset, system))


# Translations made elsewhere


def translation_file(*, run: RunSettings, split: str) -> str:
    """Return the file of an external run's translations of a test.

    Raises `UserError` if there is none, or if its path has a brace.
    """
    where = f"{run.dataset}/{run.system}"
    path = run.external[choose(split, run.external, noun="external translations", where=where)]
    return without_braces(path, where=where)


def missing_seed_notes(project: Project, *, dataset: str, system: str) -> list[str]:
    """Write a sentence if an external system has no translations of a data set for some of the configured seeds."""
    seeds = project.seeds(dataset, system)
    missing = [seed for seed in project.settings.seeds if seed not in seeds]
    return [missing_seeds_sentence(dataset, system, missing)] if missing else []


def missing_seeds_sentence(dataset: str, system: str, missing: Sequence[int]) -> str:
    """Name the seeds that an external system has no translations of a data set for."""
    seeds = f"seed{'s' if len(missing) > 1 else ''} {', '.join(map(str, missing))}"
    return f"{system} has no external translations of {dataset} for {seeds}: its scores lack them."


def trained_pattern(project: Project) -> str:
    """Return the regular expression of the wildcard `system` for systems that are trained here."""
    return _pattern_without(project, [*project.systems.external, *project.systems.imported])


def translating_pattern(project: Project) -> str:
    """Return that for systems that have a model, trained or imported."""
    return _pattern_without(project, project.systems.external)


def pattern_of(names: Sequence[str]) -> str:
    """Return that for external or imported systems with these names; it matches nothing without any."""
    return f"(?:{'|'.join(names) or '(?!)'})"


def _pattern_without(project: Project, names: Sequence[str]) -> str:
    any_system = project.layout.constraints["system"]
    return f"(?!(?:{'|'.join(names)})/){any_system}" if names else any_system


# Metrics that are commands: their models and environments


def metric_made_from(*, metric: str) -> dict[str, Any]:
    """Return what the scores of a metric that is a command depend on. Raises `UserError` if there is none."""
    choose(metric, command_metric_names(), noun="metric that is a command", where="the target")
    return command_metric(metric).made_from


def metric_model(settings: ProjectSettings, metric: str) -> str:
    """Return the path of a metric's model; empty if it needs none, or if the model is in none of the folders."""
    name = command_metric(metric).model_name
    paths = candidate_paths(name, settings.model_folders) if name else []
    return next((str(path.resolve()) for path in paths if path.exists()), "")


def conda_file(metric: str) -> str | None:
    """Return the file of a metric's environment that Snakemake makes by conda; None if it is another one."""
    environment = command_metric(metric).environment
    return environment if environment and environment.endswith((".yaml", ".yml")) else None


def metric_obstacles(settings: ProjectSettings, metric: str, *, with_conda: bool) -> list[str]:
    """Return one sentence for each thing that a metric lacks; `with_conda`: whether jobs run in conda environments."""
    name, environment = command_metric(metric).model_name, command_metric(metric).environment
    sentences = []
    if name and not metric_model(settings, metric):
        searched = ", ".join(map(str, candidate_paths(name, settings.model_folders)))
        sentences.append(f"there is no model '{name}': looked for it at {searched}. Put it at one of these places.")
    if conda_file(metric) and not with_conda:
        sentences.append(
            f"{metric} needs an environment of its own: add --software-deployment-method conda, or write `environment: "
            f"FOLDER` into this file, where the folder is a venv that has what {environment} lists."
        )
    if environment and not Path(environment if conda_file(metric) else f"{environment}/bin").exists():
        sentences.append(f"environment: there is none at {environment}: name a YAML file, or a folder with bin/ in it.")
    return [f"{metric_file(metric)}: {sentence}" for sentence in sentences]


# The demo

DEMO = {"scale": "demo", "dataset": "demo_en2de"}
DEMO_PARSER, DEMO_PARSER_CONTROL = "depparse_l1_light", "diagonalparse_l1_light"
"""The system that can parse and translate new text, where one that reads trees needs a parser, and its own control."""
DEMO_SYSTEMS = ("transformer_base", DEMO_PARSER, "transformer_relative", "relative_tree_traversal")
"""The demo's systems, each below what it is compared with."""


def demo_counts(project: Project) -> list[str]:
    """List the folders of counts of all systems and seeds."""
    return [
        project.layout.path("counts", **DEMO, system=system, seed=seed)
        for system in DEMO_SYSTEMS
        for seed in project.seeds(DEMO["dataset"], system)
    ]


def demo_comparison(project: Project) -> dict[str, Any]:
    """Return what `write_demo` says of the counts."""
    return {
        "split": project.dataset(DEMO["dataset"]).main_test,
        "compared_with": {system: project.compared_with(system) for system in DEMO_SYSTEMS},
        "parser": DEMO_PARSER,
        "parser_control": DEMO_PARSER_CONTROL,
    }
