# Before the first job starts: report what must be downloaded and which models are missing, and run the jobs again that
# an earlier plan did not finish. After a dry run: say what the plan takes.
import os
from pathlib import Path

from snakemake.logging import logger
from snakemake.settings.types import DeploymentMethod, Quietness

from nmtcore.corpus.sources import free_bytes, planned_downloads
from nmtcore.errors import UserError
from nmtcore.job import call_around
from nmtcore.layout import model_of
from nmtcore.planning.annotation import annotators_without_models
from nmtcore.planning.comet import comet_obstacles
from nmtcore.planning.downloads import files_and_licences, files_by_hand
from nmtcore.planning.costs import planned_costs
from nmtcore.planning.paper_tables import all_tables
from nmtcore.reporting.cost_table import cost_lines
from nmtcore.unfinished import delete_plan_record, record_plan, unfinished

COSTS = []
"""Lines that say what the plan takes."""


def when_planned(check):
    """Call `check` with the jobs of the plan before any of them starts; interrupted jobs become part of the plan.

    Input functions cannot do this, because Snakemake also evaluates those of finished jobs; neither can `onstart`,
    which Snakemake does not call in a dry run.
    """

    def add_unfinished():
        if workflow.is_main_process and not workflow.touch:
            workflow.dag.forcefiles.update(without_traceback(unfinished)(LAYOUT))

    def check_jobs():
        executing = workflow.executor_plugin is not None and not workflow.touch
        if executing and workflow.is_main_process:
            check([job for job in workflow.dag.needrun_jobs() if is_ours(job)])
        if IS_MODULE:
            call_hooks()

    workflow._build_dag = call_around(
        workflow._build_dag, before=add_unfinished, after=check_jobs
    )


def call_hooks():
    """Do after the jobs what the hooks below do: Snakemake calls only those of the workflow that has the module."""
    workflow._onsuccess = call_around(workflow._onsuccess, after=finish_plan)


@without_traceback
def check_plan(jobs):
    """Report the downloads; end planning if a model is missing and the workflow cannot download it."""
    files = planned_files(jobs)
    by_hand = files_by_hand(PROJECT, [file for file, _ in files.values()])
    missing = annotators_without_models(PROJECT, planned_annotators(jobs))
    if any(is_job_of(job, "run_comet") for job in jobs):
        methods = workflow.deployment_settings.deployment_method
        missing += comet_obstacles(
            SETTINGS, with_conda=DeploymentMethod.CONDA in methods
        )
    if not workflow.dryrun:
        missing += [line for name, line in by_hand.items() if model_of(name)]
    if missing:
        # `end_planning` writes the prefix of the first message.
        raise UserError("\nError: ".join(missing))
    announce(files)
    for sentence in by_hand.values():
        warn(sentence)
    if workflow.dryrun:
        estimate_costs(jobs)
    else:
        outputs = [file for job in jobs for file in job.output if os.path.exists(file)]
        record_plan(outputs, layout=LAYOUT)


def planned_files(jobs):
    """Return the settings and the licence of each file that the plan downloads, by name."""
    files = [job.wildcards.file for job in jobs if is_job_of(job, "download")]
    datasets = dict.fromkeys(job.wildcards_dict.get("dataset") for job in jobs)
    return files_and_licences(PROJECT, files, datasets=filter(None, datasets))


def planned_annotators(jobs):
    """Return the data set and the name of each annotator that the plan runs."""
    shards = [job.wildcards for job in jobs if is_job_of(job, "annotate_shard")]
    return {(names.dataset, names.annotator) for names in shards}


def announce(files):
    """Report the files to download, their sizes and licences."""
    for sentence in planned_downloads(
        files.values(),
        downloads=Path(LAYOUT.downloads),
        mirror_roots=SETTINGS.mirrors,
        manual_folder=Path(SETTINGS.paths.manual),
        ask_length=None if workflow.dryrun else ask_length,
    ):
        logger.info(sentence, extra={"shown": True})


def ask_length(url):
    """Ask a server for the length of a file; not called in a dry run, which needs no network."""
    from nmtcore.corpus.download import remote_length

    return remote_length(url, SETTINGS.http_hosts)


def after_dry_run(function):
    """Call `function` when a dry run has listed its jobs."""

    def when_executed():
        if workflow.is_main_process and workflow.dryrun:
            function()

    workflow.execute = call_around(workflow.execute, after=when_executed)


@without_traceback
def estimate_costs(jobs):
    """Estimate what the plan's tables of papers take, or its runs if there are several."""
    wanted = {
        job.wildcards.paper_table
        for job in workflow.dag.jobs
        if is_job_of(job, "paper_table")
    }
    training = [job for job in jobs if is_job_of(job, "train_model")]
    if not wanted and len(training) < 2:
        return
    missing = dict.fromkeys(str(file) for job in jobs for file in job.output)
    try:
        costs = planned_costs(
            PROJECT,
            tables=[name for name in all_tables(PROJECT) if name in wanted],
            others=[run_of(job.wildcards) for job in training],
            files=missing,
            on_gpu=GPUS > 0,
            is_there=lambda path: path not in missing,
        )
    except UserError as error:
        warn(f"Costs are not estimated: {error}")
        return
    COSTS.extend(cost_lines(costs, free=free_bytes(Path(LAYOUT.results))))


def report_costs():
    """Show the estimated costs; -q leaves them out."""
    for line in COSTS:
        logger.info(line, extra={"quietness": Quietness.PROGRESS, "shown": True})


def finish_plan():
    """Do what is due when all jobs of the plan have succeeded."""
    delete_plan_record(LAYOUT)


if IS_FIRST_USE:
    when_planned(check_plan)
    after_dry_run(report_costs)


onsuccess:
    finish_plan()
