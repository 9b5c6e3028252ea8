"""Compare all results with their records."""

from nmtcore.job import job, job_settings
from nmtcore.reporting.verify import verify

with job(snakemake) as terminal:
    print(*verify(job_settings(snakemake).layout, snakemake.params.versions), sep="\n", file=terminal, flush=True)
