"""Measure the attention of a run on the first sentences of a split."""

from pathlib import Path

from nmtcore.config.runs import run_from_json
from nmtcore.experiment.measure import ModelOnSplit, measure_attention
from nmtcore.job import job, job_settings

with job(snakemake):
    settings = job_settings(snakemake)
    run = run_from_json(snakemake.params.run[0], where="the workflow")
    measured = ModelOnSplit(
        run=run,
        model=Path(snakemake.input.model),
        features=Path(run.feature_folder(settings.layout)),
        split=snakemake.wildcards.split,
        device=settings.device,
        threads=snakemake.threads,
        labels=run.label_files(settings.layout),
    )
    measure_attention(measured, sentences=snakemake.params.sentences, output=Path(snakemake.output[0]))
