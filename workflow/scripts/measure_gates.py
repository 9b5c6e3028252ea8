"""Measure the gate norms of a run on the references of a split."""

from pathlib import Path

from nmtcore.experiment.measure import ModelOnSplit, measure_gates
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
    tags = Path(snakemake.input.tags[0]) if snakemake.input.tags else None
    measure_gates(measured, tags=tags, output=Path(snakemake.output[0]))
