# The configuration as the rules see it, and the paths that they share.
from dataclasses import fields
from functools import cache, wraps
from inspect import signature
from pathlib import Path

from snakemake.logging import logger

from nmtcore.config.changes import Tracked, explain_reasons
from nmtcore.config.depends import (
    gold_scoring_settings,
    gold_settings,
    inference_settings,
    scoring_settings,
    training_settings,
)
from nmtcore.config.hidden import hidden_files
from nmtcore.config.project import Project
from nmtcore.config.runs import run_to_json
from nmtcore.config.project_settings import ProjectSettings
from nmtcore.config.typed import choose
from nmtcore.config.versions import VERSIONS
from nmtcore.errors import UserError
from nmtcore.job import end_planning, has_nvidia_driver, hide_exit_statuses
from nmtcore.planning.configured import configured_runs
from nmtcore.planning.runs import feature_files


def without_traceback(function):
    """Let a user's mistake end planning with its sentence alone."""

    @wraps(function)  # Snakemake asks for its parameters
    def call(*arguments, **options):
        try:
            return function(*arguments, **options)
        except UserError as error:
            end_planning(error)

    return call


@cache
def warn(sentence):
    """Print a sentence once; the process of a job prints none, since it plans again what was planned."""
    if workflow.is_main_process:
        logger.warning(sentence)


@without_traceback
def load_project():
    """Read the configuration, and say which files and folders are hidden, not read or missing."""
    own = Path(
        workflow.current_basedir.join("../../config").get_path_or_uri(secret_free=True)
    ).resolve()
    keys = [field.name for field in fields(ProjectSettings)]
    for key in workflow.config_settings.config:
        choose(key, keys, noun="key", where="--config")
    project = Project(["config", own], config)
    for sentence in hidden_files(project.folders) + project.settings.missing_folders:
        warn(sentence)
    for fault in project.faults:
        warn(f"Not read: {fault}")
    return project


explain_reasons(logger)
hide_exit_statuses(logger)
PROJECT = load_project()
SETTINGS = PROJECT.settings
LAYOUT = PROJECT.layout
GPUS = (
    SETTINGS.gpus
    if SETTINGS.device == "cuda" or (SETTINGS.device == "auto" and has_nvidia_driver())
    else 0
)


wildcard_constraints:
    **LAYOUT.constraints,


def planned(function, **fixed):
    """Give Snakemake a function of the package, called with what its parameters name.

    These are the `project`, the wildcards of a rule, the `run` that they stand for, and the configured `runs`.
    """
    wanted = signature(function).parameters.keys() - fixed.keys()

    @without_traceback
    def call(wildcards):
        known = {"project": PROJECT, **dict(wildcards.items())}
        known |= {"run": run_of(wildcards)} if "run" in wanted else {}
        known |= {"runs": runs_to_make()} if "runs" in wanted else {}
        return function(
            **{name: known[name] for name in wanted & known.keys()}, **fixed
        )

    return call


@without_traceback
def run_of(wildcards):
    """The run that a path names."""
    scale = LAYOUT.scale(wildcards.root)
    return PROJECT.run(wildcards.dataset, wildcards.system, scale, int(wildcards.seed))


@cache
def runs_to_make():
    """Every run that config.yaml asks for; says what its patterns leave out."""
    runs, left_out = configured_runs(PROJECT)
    for sentence in left_out:
        warn(sentence)
    return runs


def run_param(settings, give=run_to_json):
    """A params function: what `give` takes of a run; the job runs again when what `settings` takes of it changes."""
    return lambda wildcards: Tracked(
        give(run_of(wildcards)), settings(run_of(wildcards))
    )


@without_traceback
def training_features(wildcards):
    """The features that training reads; says which settings of the system its scale overrides."""
    run = run_of(wildcards)
    for setting in PROJECT.overridden(run.dataset, run.system, run.scale):
        warn(str(setting))
    return feature_files(PROJECT, run=run, splits="training_splits")
