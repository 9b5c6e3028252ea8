"""Measure the attention of a run on the first sentences of a split."""

from pathlib import Path

from nmtcore.experiment.measure import ModelOnSplit, measure_attention
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
    measure_attention(measured, sentences=snakemake.params.sentences, output=Path(snakemake.output[0]))
