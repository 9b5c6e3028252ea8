"""Write the tables of all runs and all scores of the results folder."""

from nmtcore.job import job, job_settings
from nmtcore.reporting.run_index import index_runs

with job(snakemake) as terminal:
    index_runs(
        job_settings(snakemake).layout,
        snakemake.params.states["supertags"],
        warn=lambda sentence: print(sentence, file=terminal, flush=True),
    )
