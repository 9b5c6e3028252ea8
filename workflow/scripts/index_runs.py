"""Write the index of all runs of the results folder."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.run_index import index_runs

with job(snakemake) as terminal:
    index_runs(
        job_settings(snakemake).layout,
        snakemake.params.runs["runs"],
        index=Path(snakemake.output[0]),
        warn=lambda sentence: print(sentence, file=terminal, flush=True),
    )
