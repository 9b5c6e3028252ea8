"""Translate the test splits of a run, and parse them if the system parses."""

from pathlib import Path

from nmtcore.experiment.inference import translate_tests
from nmtcore.job import job, job_settings, planned_run

with job(snakemake):
    settings = job_settings(snakemake)
    run = planned_run(snakemake)
    translate_tests(
        run,
        model=Path(snakemake.input.model),
        features=Path(run.feature_folder(settings.layout)),
        corpora=dict(zip(run.tests, map(Path, snakemake.input.corpus), strict=True)),
        hypotheses=Path(snakemake.output.hypotheses),
        device=settings.device,
        threads=snakemake.threads,
    )
