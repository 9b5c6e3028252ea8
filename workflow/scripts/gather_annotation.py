"""Concatenate the shards of an annotation."""

from pathlib import Path

from nmtcore.annotation.shards import gather_shards
from nmtcore.job import job

with job(snakemake):
    gather_shards(
        [Path(path) for path in snakemake.input.shards],
        corpus=Path(snakemake.input.corpus),
        output=Path(snakemake.output.annotation),
        report=Path(snakemake.output.report),
    )
