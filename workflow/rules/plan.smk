# Before the first job starts: report what must be downloaded and which models are missing, and run the jobs again that
# an earlier plan did not finish, and bring the manifests of runs up to date. When a job has made a model or scores, and
# after the last job: write the manifests of these runs. After a dry run: say what the plan takes.
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
from nmtcore.planning.manifests import RESULTS, described_runs, runs_to_describe
from nmtcore.planning.paper_tables import all_tables
from nmtcore.reporting.cost_table import cost_lines
from nmtcore.unfinished import delete_plan_record, record_plan, unfinished

PLANNED_PATHS = []
"""The outputs of all jobs of the plan."""

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
    workflow._onerror = call_around(workflow._onerror, after=write_planned_manifests)


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
        PLANNED_PATHS.extend(file for job in jobs for file in job.output)
        write_manifests_of(runs_to_describe(LAYOUT))
        workflow.dag.finish = describing_runs(workflow.dag.finish)
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
    ):
        logger.info(sentence, extra={"shown": True})


def write_planned_manifests():
    """Write the manifests of the plan's runs, with the times of all their jobs."""
    paths = map(LAYOUT.parse, PLANNED_PATHS)
    write_manifests_of([path for path in paths if path and "seed" in path.names])


def write_manifests_of(runs):
    """Write the manifests of runs; a fault in a file is a warning, as the results are there.

    A job per run would take longer than its work, and change the plans of finished results.
    """
    if not runs:
        return
    from nmtcore.reporting.manifest_files import write_manifests

    for sentence in write_manifests(LAYOUT, described_runs(PROJECT, runs)):
        warn(sentence)


def describing_runs(finish):
    """Return a function that does what `DAG.finish` does, then writes the manifests of runs with new results.

    So they are right while other runs go on, and if Snakemake is killed.
    """

    async def finish_job(job, **options):
        await finish(job, **options)
        jobs = [own for own in (job if job.is_group() else [job]) if is_ours(own)]
        paths = [LAYOUT.parse(str(file)) for own in jobs for file in own.output]
        write_manifests_of(
            [path for path in paths if path and path.file_type in RESULTS]
        )

    return finish_job


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
    write_planned_manifests()


if IS_FIRST_USE:
    when_planned(check_plan)
    after_dry_run(report_costs)


onsuccess:
    finish_plan()


onerror:
    write_planned_manifests()
