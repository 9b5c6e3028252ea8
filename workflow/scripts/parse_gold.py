"""Parse the gold treebanks of a run."""

from pathlib import Path

from nmtcore.experiment.inference import parse_gold
from nmtcore.job import job, job_settings, planned_run

with job(snakemake):
    settings = job_settings(snakemake)
    run = planned_run(snakemake)
    parse_gold(
        run,
        model=Path(snakemake.input.model),
        features=Path(run.feature_folder(settings.layout)),
        parses=Path(snakemake.output.parses),
        device=settings.device,
        threads=snakemake.threads,
    )
