# The configuration and the helper functions that all rules share.
from dataclasses import fields
from functools import cache, wraps
from inspect import signature
from pathlib import Path

from snakemake.logging import logger

from nmtcore.config.project import Project, ProjectSettings
from nmtcore.config.runs import (
    INFERENCE,
    TRAINING,
    inference_settings,
    training_settings,
)
from nmtcore.config.stages import MANIFESTS, VERSIONS
from nmtcore.config.typed import changed, choose
from nmtcore.errors import UserError
from nmtcore.gpus import jobs_per_gpu, visible_gpus
from nmtcore.job import end_planning
from nmtcore.layout import JOBS, TABLE_FORMATS
from nmtcore.planning.configured import configured_runs
from nmtcore.planning.evaluation import (
    pattern_of,
    trained_pattern,
    translating_pattern,
)


def without_traceback(function):
    """Decorate a function so that a `UserError` ends planning with its message, without a traceback."""

    @wraps(function)  # Snakemake inspects the parameters
    def call(*arguments, **options):
        try:
            return function(*arguments, **options)
        except UserError as error:
            end_planning(error)

    return call


@cache
def warn(sentence):
    """Print a warning once; never in the process of a job, which only repeats the plan."""
    if workflow.is_main_process:
        logger.warning(sentence)


@without_traceback
def load_project():
    """Read the configuration, and warn about files and folders that are hidden, not read or missing."""
    repository_config = Path(
        workflow.current_basedir.join("../../config").get_path_or_uri(secret_free=True)
    ).resolve()
    if not IS_MODULE:
        keys = [field.name for field in fields(ProjectSettings)]
        for key in workflow.config_settings.config:
            choose(key, keys, noun="key", where="--config")
    project = Project(["config", repository_config], config, where=CONFIG_NAME)
    for sentence in project.hidden + project.settings.missing_folders:
        warn(sentence)
    for fault in project.faults:
        warn(f"Not read: {fault}")
    return project


PROJECT = load_project()
SETTINGS = PROJECT.settings
LAYOUT = PROJECT.layout
ON_GPU = SETTINGS.device == "cuda" or (
    SETTINGS.device == "auto" and bool(visible_gpus())
)
GPUS = SETTINGS.gpus if ON_GPU else 0
TRAINED, TRANSLATING = trained_pattern(PROJECT), translating_pattern(PROJECT)
EXTERNAL = pattern_of(PROJECT.systems.external)
IMPORTED = pattern_of(PROJECT.systems.imported)


wildcard_constraints:
    **LAYOUT.constraints,


SMALL = {"mem_mb": 2000, "runtime": 60}
"""The resources of jobs that read and write a split."""
READING = {"mem_mb": 2000, "runtime": 240}
"""The resources of those that do much with each sentence."""
WITH_MODEL = {"mem_mb": 8000, "runtime": 120, "gpu": min(GPUS, 1)}
"""The resources of jobs that measure a model."""


def complete_rules():
    """Give each rule its log and its benchmark and, unless it names another, the package's environment and a version.

    The version is that of the stage after which the file of the rule is named.

    Rules without resources, whose jobs are small, become local; those of a workflow that has this as a module stay.
    """
    names = {name: workflow.modifier.avail_rulename(name) for name in JOBS}
    ours = {
        name: workflow.get_rule(rule_name)
        for name, rule_name in names.items()
        if rule_name
    }
    modifier = workflow.modifier.path_modifier
    for name, each in ours.items():
        each.log_modifier = each.benchmark_modifier = modifier
        if not each.log:
            each.set_log(LAYOUT.pattern(f"{name}.log"))
        if (
            each.output
        ):  # a benchmark would pass for one, so that the rule would run once
            each.benchmark = each.benchmark or LAYOUT.pattern(f"{name}.benchmark")
        each.conda_env = each.conda_env or "../../envs/core.yaml"
        if each.script and "version" not in each.params.keys():
            each.set_params(version=VERSIONS[Path(str(each.snakefile)).stem])
    small = {each.name for each in ours.values() if not each.ruleinfo.resources}
    workflow._localrules = set(EARLIER_LOCAL_RULES) | small


def table_files(file_type):
    """Name the files of a table in all formats."""
    prefix = file_type.removesuffix("_table")
    formats = {ending: LAYOUT.pattern(f"{prefix}_{ending}") for ending in TABLE_FORMATS}
    table = report(LAYOUT.pattern(file_type), category="Tables")
    return {"table": table, **formats}


def planned(function, notes=None, **fixed):
    """Make an input or params function that calls a function of the package with the parameters that it names.

    These may be the `project`, wildcards of the rule, the `run` with these wildcards, and the configured `runs`.
    `notes` is another such function, which returns sentences to warn of.
    """

    @without_traceback
    def call(wildcards):
        for sentence in call_planned(notes, wildcards) if notes else ():
            warn(sentence)
        return call_planned(function, wildcards, **fixed)

    return call


def call_planned(function, wildcards, **fixed):
    """Call a function of the package with the parameters that it names, as `planned` says."""
    parameters = signature(function).parameters.keys() - fixed.keys()
    values = {"project": PROJECT, **dict(wildcards.items())}
    values |= {"run": run_of(wildcards)} if "run" in parameters else {}
    values |= {"runs": all_runs()} if "runs" in parameters else {}
    return function(
        **{name: values[name] for name in parameters & values.keys()}, **fixed
    )


@without_traceback
def run_of(wildcards):
    """Return the run with these wildcards."""
    scale = LAYOUT.scale(wildcards.root)
    return PROJECT.run(wildcards.dataset, wildcards.system, scale, int(wildcards.seed))


@cache
def all_runs():
    """Return every run that config.yaml selects, and warn about systems that its patterns leave out."""
    runs, sentences = configured_runs(PROJECT)
    for sentence in sentences:
        warn(sentence)
    return runs


def run_params(settings, *sections):
    """Make a params function for each section of `settings` of a run or split: what the job depends on, by its name.

    Jobs have the whole run from `planned_run`; Snakemake names the sections that changed.
    """

    def section_of(section):
        return lambda wildcards: {
            section: call_planned(settings, wildcards).get(section)
        }

    return {f"{section}_settings": section_of(section) for section in sections}


def scoring_param(settings):
    """Make a params function with the settings of scoring a run, without those at their defaults."""
    return lambda wildcards: changed(settings(run_of(wildcards)))
