# What is said about a plan before any of its jobs starts: what must be fetched, and which models are missing. And what
# an earlier plan did not get done.
import os
from operator import itemgetter
from pathlib import Path

from snakemake.logging import logger

from nmtcore.annotation.models import missing_models
from nmtcore.corpus.download import missing_manual, planned_downloads
from nmtcore.errors import UserError
from nmtcore.unfinished import forget_plan, note_plan, unfinished


def when_planned(check):
    """Have `check` called with the jobs of the plan, before any of them starts; what broke off is part of the plan.

    Snakemake evaluates input functions of finished jobs too, and calls `onstart` in no dry run.
    """
    build = workflow._build_dag

    def build_and_check():
        if workflow.is_main_process and not workflow.touch:
            workflow.dag.forcefiles.update(explained(unfinished)(LAYOUT))
        build()
        executing = workflow.executor_plugin is not None and not workflow.touch
        if executing and workflow.is_main_process:
            check(list(workflow.dag.needrun_jobs()))

    workflow._build_dag = build_and_check


@explained
def check_plan(jobs):
    """Say what will be fetched; end planning where a parser's model is missing and the workflow cannot fetch it."""
    files = planned_files(jobs)
    by_hand = files_by_hand(file for file, _ in files.values())
    missing = annotators_without_models(jobs)
    if not workflow.dryrun:
        missing += [
            line for name, line in by_hand.items() if name.startswith("models/")
        ]
    if missing:
        raise UserError("\nError: ".join(missing))  # each begins as one alone would
    announce(files)
    for sentence in by_hand.values():
        warn(sentence)
    if not workflow.dryrun:
        outputs = [file for job in jobs for file in job.output if os.path.exists(file)]
        note_plan(outputs, layout=LAYOUT)


def planned_files(jobs):
    """The files that the plan fetches: by name, the settings and the licence that a data set or model gives."""
    names = dict.fromkeys(job.wildcards_dict.get("dataset") for job in jobs)
    licences = {
        file.name: corpus.licence or dataset.licence
        for dataset in (PROJECT.dataset(name) for name in names if name)
        for corpus in dataset.corpora.values()
        for files in corpus.files.values()
        for file in files
    }
    planned = sorted(job.wildcards.file for job in jobs if job.rule.name == "download")
    models = {Path(name).parts[1] for name in planned if name.startswith("models/")}
    for model in map(PROJECT.annotator_model, models & set(PROJECT.model_files)):
        licences |= {file.name: model.licence for file in model.files}
    return {name: (file_settings(name), licences.get(name, "")) for name in planned}


def files_by_hand(files):
    """What to do about each file that must be fetched by hand and is not there yet, by its name."""
    sentences = {
        file.name: missing_manual(
            file, manual_folder=Path(MANUAL), mirror_roots=SETTINGS.mirrors
        )
        for file in files
    }
    return {name: sentence for name, sentence in sentences.items() if sentence}


def annotators_without_models(jobs):
    """A sentence for each annotator of the plan whose model is neither on this machine nor can be fetched."""
    annotators = {
        (job.wildcards.dataset, job.wildcards.annotator): annotator_of(job.wildcards)
        for job in jobs
        if job.rule.name == "annotate_shard"
    }
    return [
        f"{dataset}: the annotator {annotator} cannot run: {sentence}"
        for (dataset, annotator), settings in sorted(
            annotators.items(), key=itemgetter(0)
        )
        for sentence in missing_models(
            settings, SETTINGS.model_folders, fetched=PROJECT.model_files
        )
    ]


def announce(files):
    """Say what must be fetched, how much it is and under which licence."""
    for sentence in planned_downloads(
        files.values(),
        downloads=Path(DOWNLOADS),
        mirror_roots=SETTINGS.mirrors,
        manual_folder=Path(MANUAL),
        ask=None if workflow.dryrun else ask_length,
    ):
        logger.info(sentence)


def ask_length(url):
    """Ask a server for a file's length; a dry run works without a network."""
    from nmtcore.corpus.remote import asked_length

    return asked_length(url, SETTINGS.http_hosts)


when_planned(check_plan)


onsuccess:
    forget_plan(LAYOUT)
