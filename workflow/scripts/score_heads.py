"""Parse a gold treebank with every attention head of a run's encoder, and score the trees."""

from pathlib import Path

from nmtcore.experiment.measure import ModelOnSplit, measure_heads
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
    corpus, trees = map(Path, snakemake.input.treebank)
    measure_heads(measured, corpus=corpus, trees=trees, output=Path(snakemake.output[0]))
