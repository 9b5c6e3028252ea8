# Before the first job starts: compare results with their records, and report what must be downloaded, which models are
# missing and what a dry run's trainings take.
from pathlib import Path

from snakemake.logging import logger
from snakemake.settings.types import DeploymentMethod, Quietness

from nmtcore.corpus.sources import planned_downloads
from nmtcore.errors import UserError
from nmtcore.gpus import JOBS_PER_GPU, visible_gpus
from nmtcore.job import call_around, end_with_terminal
from nmtcore.layout import model_of
from nmtcore.lock import free_locks, keep_results, sign_locks
from nmtcore.planning.annotation import annotators_without_models
from nmtcore.planning.corpus import files_and_licences, files_by_hand
from nmtcore.planning.costs import cost_lines, planned_costs
from nmtcore.planning.evaluation import metric_obstacles
from nmtcore.planning.training import shared_gpus
from nmtcore.planning.up_to_date import compare_with_records, unknown_sentence


def when_planned(check):
    """Compare results with their records, then call `check` with the jobs of the plan, before any of them starts.

    Input functions cannot do this, because Snakemake also evaluates those of finished jobs; neither can `onstart`,
    which Snakemake does not call in a dry run.
    """

    def check_jobs():
        if not workflow.is_main_process:
            return
        plan_again()
        if workflow.executor_plugin is not None:
            check([job for job in workflow.dag.needrun_jobs() if is_ours(job)])

    workflow._build_dag = call_around(workflow._build_dag, after=check_jobs)


def plan_again():
    """Let records decide which outputs are made again."""
    dag = workflow.dag
    compared = without_traceback(compare_with_records)(
        dag, LAYOUT, is_ours=is_ours, accept=workflow.touch
    )
    if compared.changed or compared.touched:
        decide_again(compared.changed)
    kept = [job for job in compared.unknown if not dag.needrun(job)]
    if kept and not workflow.touch:
        targets = " ".join(sorted(map(str, dag.targetfiles))) or "TARGET"
        warn(unknown_sentence([str(job.output[0]) for job in kept], targets=targets))
    for job in filter(is_ours, dag.jobs):
        dag.reason(job).no_metadata = False  # else Snakemake says that it has no notes


def decide_again(changed):
    """Let Snakemake decide again which jobs run: those that changed, and those that it finds by the present times."""
    dag = workflow.dag
    for job in dag.jobs:
        dag.reason(job).clear()
    for job, difference in changed.items():
        reason = dag.reason(job)
        reason.params_changed = difference.settings
        reason.updated_input.update(f for f in job.input if f in difference.inputs)
        reason.input_changed = bool(difference.inputs) and not reason.updated_input
    workflow.iocache.mtime.clear()
    workflow.async_run(dag.update_needrun(create_inventory=True))


@without_traceback
def share_gpus(jobs):
    """Let jobs share the GPUs of this machine: as many slots as these have in all, unless the user gave `gpu`.

    An executor gives jobs their GPUs. In a dry run, only `use_threads` tells that there is one.
    """
    jobs = [job for job in jobs if GPUS and "gpu" in job.rule.resources]
    has_executor = not workflow.local_exec or (workflow.dryrun and workflow.use_threads)
    gpus = visible_gpus() if jobs and not has_executor else []
    os.environ.pop(JOBS_PER_GPU, None)
    if not gpus:
        return
    roots = {job.wildcards_dict["root"] for job in jobs if "root" in job.wildcards_dict}
    shared = shared_gpus(PROJECT, roots, visible=len(gpus))
    os.environ[JOBS_PER_GPU] = str(shared.jobs)
    if "gpu" not in workflow.global_resources:
        workflow.register_resource("gpu", shared.slots)
    slots = workflow.global_resources["gpu"].value
    each = "1 job" if shared.jobs == 1 else f"{shared.jobs} jobs"
    sentence = (
        f"GPUs: {len(gpus)}, with at most {each} at a time on each (gpu={slots})."
    )
    logger.info(sentence, extra={"shown": True})


@without_traceback
def check_plan(jobs):
    """Report the downloads; end planning if jobs cannot run: a model or GPU is missing, or the results are in use."""
    if workflow.touch:
        check_touch(jobs)
        return
    share_gpus(jobs)
    files = planned_files(jobs)
    by_hand = files_by_hand(PROJECT, [file for file, _ in files.values()])
    shards = [job.wildcards for job in jobs if is_job_of(job, "annotate_shard")]
    annotators = {(names.dataset, names.annotator) for names in shards}
    missing = annotators_without_models(PROJECT, annotators)
    with_conda = (
        DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method
    )
    metrics = [job.wildcards.metric for job in jobs if is_job_of(job, "run_metric")]
    for metric in dict.fromkeys(metrics):
        missing += metric_obstacles(SETTINGS, metric, with_conda=with_conda)
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


def check_touch(jobs):
    """End planning if --touch, which makes no files, would say that all jobs are done though there are no files."""
    if jobs and not any(os.path.exists(file) for job in jobs for file in job.output):
        raise UserError(
            "--touch makes no files, and none of those that it would touch is there: leave it out."
        )


def missing_gpu(jobs):
    """Say that there is no GPU if the jobs run on this machine and need one."""
    if SETTINGS.device == "cuda" and workflow.local_exec and not visible_gpus():
        if any(job.resources.get("gpu") for job in jobs):
            return ["device: cuda needs an NVIDIA GPU, and none is visible here."]
    return []


def prepare_run(jobs):
    """Take the locks, and let a closed terminal end the run."""
    free_locks(Path(".snakemake/locks"))
    if jobs:
        keep_results(Path(LAYOUT.results), Path(LAYOUT.path("results_lock")))
    workflow._onstart = call_around(workflow._onstart, before=sign_own_locks)
    end_with_terminal()


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
        costs = planned_costs(PROJECT, map(run_of, trainings), on_gpu=ON_GPU)
    except UserError as error:
        warn(f"Costs are not estimated: {error}")
        return
    for line in cost_lines(*costs, on_gpu=ON_GPU):
        logger.info(line, extra={"quietness": Quietness.PROGRESS, "shown": True})


if IS_FIRST_USE:
    when_planned(check_plan)
