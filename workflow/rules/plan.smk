# Before the first job starts: report what must be downloaded, which models are missing and what a dry run's trainings
# take, and run the jobs again that an earlier plan did not finish.
from pathlib import Path

from snakemake.logging import logger
from snakemake.settings.types import DeploymentMethod, Quietness

from nmtcore.corpus.sources import free_bytes, planned_downloads
from nmtcore.errors import UserError
from nmtcore.job import call_around, end_with_terminal, has_gpu
from nmtcore.layout import model_of
from nmtcore.lock import free_locks, keep_results, sign_locks
from nmtcore.planning.annotation import annotators_without_models
from nmtcore.planning.comet import comet_obstacles
from nmtcore.planning.costs import cost_lines, planned_costs
from nmtcore.planning.downloads import files_and_licences, files_by_hand
from nmtcore.unfinished import record_plan, unfinished


def when_planned(check):
    """Call `check` with the jobs of the plan before any of them starts; interrupted jobs become part of the plan.

    Input functions cannot do this, because Snakemake also evaluates those of finished jobs; neither can `onstart`,
    which Snakemake does not call in a dry run.
    """

    def add_unfinished():
        if workflow.is_main_process and not workflow.touch:
            workflow.dag.forcefiles.update(without_traceback(unfinished)(LAYOUT))

    def check_jobs():
        if workflow.executor_plugin is not None and workflow.is_main_process:
            check([job for job in workflow.dag.needrun_jobs() if is_ours(job)])
        if (
            IS_MODULE
        ):  # Snakemake calls only the hooks of the workflow that has the module
            workflow._onsuccess = call_around(workflow._onsuccess, after=finish_plan)

    workflow._build_dag = call_around(
        workflow._build_dag, before=add_unfinished, after=check_jobs
    )


@without_traceback
def check_plan(jobs):
    """Report the downloads; end planning if jobs cannot run: a model or GPU is missing, or the results are in use."""
    if workflow.touch:
        check_touch(jobs)
        return
    files = planned_files(jobs)
    by_hand = files_by_hand(PROJECT, [file for file, _ in files.values()])
    shards = [job.wildcards for job in jobs if is_job_of(job, "annotate_shard")]
    annotators = {(names.dataset, names.annotator) for names in shards}
    missing = annotators_without_models(PROJECT, annotators)
    if any(is_job_of(job, "run_comet") for job in jobs):
        methods = workflow.deployment_settings.deployment_method
        missing += comet_obstacles(
            SETTINGS, with_conda=DeploymentMethod.CONDA in methods
        )
    if not workflow.dryrun:
        missing += [line for name, line in by_hand.items() if model_of(name)]
        missing += missing_gpu(jobs)
    if missing:
        # `end_planning` writes the prefix of the first message.
        raise UserError("\nError: ".join(missing))
    announce(files)
    for sentence in by_hand.values():
        warn(sentence)
    if workflow.dryrun:
        report_costs([job.wildcards for job in jobs if is_job_of(job, "train_model")])
    else:
        prepare_run(jobs)


def existing_outputs(jobs):
    """Return the outputs of jobs that are there."""
    return [file for job in jobs for file in job.output if os.path.exists(file)]


def check_touch(jobs):
    """End planning if --touch, which makes no files, would say that all jobs are done though there are no files."""
    if jobs and not existing_outputs(jobs):
        raise UserError(
            "--touch makes no files, and none of those that it would touch is there: leave it out."
        )


def missing_gpu(jobs):
    """Say that there is no GPU if the jobs run on this machine and need one."""
    if SETTINGS.device == "cuda" and workflow.local_exec and not has_gpu():
        if any(job.resources.get("gpu") for job in jobs):
            return ["device: cuda needs an NVIDIA GPU, and none is visible here."]
    return []


def prepare_run(jobs):
    """Take the locks, let a closed terminal end the run, and record which outputs it replaces."""
    free_locks(Path(".snakemake/locks"))
    if jobs:
        keep_results(Path(LAYOUT.results), Path(LAYOUT.path("results_lock")))
    workflow._onstart = call_around(workflow._onstart, before=sign_own_locks)
    end_with_terminal()
    record_plan(existing_outputs(jobs), layout=LAYOUT)


def sign_own_locks():
    """Sign the locks that Snakemake has taken by now."""
    sign_locks(getattr(workflow.persistence, "_lockfile", {}).values())


def planned_files(jobs):
    """Return the settings and the licence of each file that the plan downloads, by name."""
    files = [job.wildcards.file for job in jobs if is_job_of(job, "download")]
    datasets = dict.fromkeys(job.wildcards_dict.get("dataset") for job in jobs)
    return files_and_licences(PROJECT, files, datasets=filter(None, datasets))


def announce(files):
    """Report the files to download, their sizes and licences."""
    for sentence in planned_downloads(
        files.values(),
        downloads=Path(LAYOUT.downloads),
        mirror_roots=SETTINGS.mirrors,
        manual_folder=Path(SETTINGS.paths.manual),
    ):
        logger.info(sentence, extra={"shown": True})


def report_costs(trainings):
    """Show what trainings take, if there are several; -q leaves this out."""
    if len(trainings) < 2:
        return
    try:
        costs = planned_costs(PROJECT, map(run_of, trainings), on_gpu=GPUS > 0)
    except UserError as error:
        warn(f"Costs are not estimated: {error}")
        return
    for line in cost_lines(*costs, free=free_bytes(Path(LAYOUT.results))):
        logger.info(line, extra={"quietness": Quietness.PROGRESS, "shown": True})


def finish_plan():
    """Forget what the jobs of the plan were to replace, as all have succeeded."""
    record_plan([], layout=LAYOUT)


if IS_FIRST_USE:
    when_planned(check_plan)


onsuccess:
    finish_plan()
