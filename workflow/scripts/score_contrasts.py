"""Score the contrastive pairs of a split with the model of a run."""

from pathlib import Path

from nmtcore.experiment.measure import ModelOnSplit, measure_contrasts
from nmtcore.job import job, job_settings, planned_run

with job(snakemake):
    settings = job_settings(snakemake)
    run = planned_run(snakemake)
    measured = ModelOnSplit(
        run=run,
        model=Path(snakemake.input.model),
        features=Path(run.feature_folder(settings.layout)),
        split=snakemake.wildcards.split,
        device=settings.device,
        threads=snakemake.threads,
    )
    measure_contrasts(measured, contrasts=Path(snakemake.input.contrasts), output=Path(snakemake.output[0]))
