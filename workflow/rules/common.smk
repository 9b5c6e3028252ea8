# The configuration as the rules see it, and the paths that they share.
from dataclasses import fields, replace
from functools import cache, wraps
from pathlib import Path

from snakemake.logging import logger

from nmtcore.config.annotators import ANNOTATORS
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
from nmtcore.config.settings import ProjectSettings
from nmtcore.config.typed import choose, plain
from nmtcore.config.versions import VERSIONS
from nmtcore.errors import UserError
from nmtcore.job import end_planning, gpu_here, hide_statuses
from nmtcore.layout import SCORES, SELECTION


def explained(function):
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


@explained
def load_project():
    """Read the configuration, and say which files and folders are hidden, not read or missing."""
    own = Path(
        workflow.current_basedir.join("../../config").get_path_or_uri(secret_free=True)
    ).resolve()
    keys = [field.name for field in fields(ProjectSettings)]
    for key in workflow.config_settings.config:
        choose(key, keys, what="key", where="--config")
    project = Project(["config", own], config)
    for sentence in hidden_files(project.folders) + project.settings.missing_folders:
        warn(sentence)
    for fault in project.faults:
        warn(f"Not read: {fault}")
    return project


explain_reasons(logger)
hide_statuses(logger)
PROJECT = load_project()
SETTINGS = PROJECT.settings
LAYOUT = PROJECT.layout
RESULTS, DOWNLOADS = LAYOUT.results, LAYOUT.downloads
MANUAL = SETTINGS.paths.manual.rstrip("/")
LOGS = f"{RESULTS}/logs"
BENCHMARKS = f"{RESULTS}/benchmarks"
DATA = f"{RESULTS}/{{dataset}}"
RUN = f"{RESULTS}/{{scale}}{{dataset}}/{{system}}/seed{{seed}}"
GPUS = (
    SETTINGS.gpus
    if SETTINGS.device == "cuda" or (SETTINGS.device == "auto" and gpu_here())
    else 0
)


wildcard_constraints:
    **LAYOUT.constraints,
    scale=rf"(?:(?:{'|'.join(LAYOUT.scales)})/)?",


@explained
def run_of(wildcards):
    """The run that a path names."""
    seed = int(getattr(wildcards, "seed", SETTINGS.seeds[0]))
    return PROJECT.run(
        wildcards.dataset,
        wildcards.system,
        LAYOUT.scale(f"{RESULTS}/{wildcards.scale}".rstrip("/")),
        seed,
    )


@explained
def dataset_of(wildcards):
    return PROJECT.dataset(wildcards.dataset)


@explained
def split_of(wildcards):
    """The data set and the name of one of its splits."""
    dataset = dataset_of(wildcards)
    choose(wildcards.split, dataset.splits, what="split", where=dataset.name)
    return dataset, wildcards.split


def run_param(settings):
    """A params function: a whole run; the job runs again when what `settings` gives of it changes."""
    return lambda wildcards: Tracked(
        run_to_json(run_of(wildcards)), settings(run_of(wildcards))
    )
