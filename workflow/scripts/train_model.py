"""Train a run and write its bundle and log."""

from nmtcore.config.runs import run_to_json
from nmtcore.experiment.launch import launch_training
from nmtcore.experiment.training import TrainingJob
from nmtcore.job import job, job_settings, planned_run

with job(snakemake):
    settings, run = job_settings(snakemake), planned_run(snakemake)
    files = {"model": snakemake.output.model, "history": snakemake.output.history, "dev_corpus": snakemake.input.dev}
    files |= {"segmentation": snakemake.input.segmentation, "checkpoints": snakemake.params.checkpoints}
    training = TrainingJob(
        run=run_to_json(run),
        features=run.feature_folder(settings.layout),
        labels=snakemake.params.labels,
        device=settings.device,
        gpus=settings.gpus,
        threads=snakemake.threads,
        start=next(iter(snakemake.input.start), None),
        **{name: str(path) for name, path in files.items()},
    )
    launch_training(training)
