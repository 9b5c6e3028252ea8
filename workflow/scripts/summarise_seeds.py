"""Summarise the scores of a system over its seeds."""

from pathlib import Path

from nmtcore.evaluation.summary import write_summary
from nmtcore.job import job

with job(snakemake) as terminal:
    lines = write_summary(
        [Path(path) for path in snakemake.input],
        seeds=snakemake.params.seeds,
        score=snakemake.wildcards.score,
        output=Path(snakemake.output[0]),
    )
    print(*lines, sep="\n", file=terminal, flush=True)
