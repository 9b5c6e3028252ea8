"""Train a run and write its bundle and log."""

from nmtcore.config.runs import run_to_json
from nmtcore.experiment.launch import launch_training
from nmtcore.experiment.training import TrainingJob
from nmtcore.job import job, job_settings, planned_run

with job(snakemake):
    settings = job_settings(snakemake)
    run = planned_run(snakemake)
    launch_training(
        TrainingJob(
            run=run_to_json(run),
            features=run.feature_folder(settings.layout),
            segmentation=str(snakemake.input.segmentation),
            labels=snakemake.params.labels,
            dev_corpus=str(snakemake.input.dev),
            checkpoints=str(snakemake.params.checkpoints),
            model=str(snakemake.output.model),
            history=str(snakemake.output.history),
            device=settings.device,
            gpus=settings.gpus,
            threads=snakemake.threads,
            map_features_from=settings.map_features_from,
            start=str(snakemake.input.start[0]) if snakemake.input.start else None,
        )
    )
