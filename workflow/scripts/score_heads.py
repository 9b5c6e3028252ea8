"""Parse a gold treebank with every attention head of a run's encoder, and score the trees."""

from pathlib import Path

from nmtcore.config.runs import run_from_json
from nmtcore.experiment.heads import score_heads
from nmtcore.job import job, job_settings

with job(snakemake):
    settings = job_settings(snakemake)
    run = run_from_json(snakemake.params.run[0], where="the workflow")
    corpus, trees = map(Path, snakemake.input.treebank)
    score_heads(
        run,
        model=Path(snakemake.input.model),
        features=Path(run.feature_folder(settings.layout)),
        labels=run.label_files(settings.layout),
        split=snakemake.wildcards.split,
        corpus=corpus,
        trees=trees,
        scores=Path(snakemake.output[0]),
        device=settings.device,
        threads=snakemake.threads,
    )
