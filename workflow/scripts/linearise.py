"""Linearise the constituency trees of one side of a split."""

from pathlib import Path

from nmtcore.annotation.labels import write_linearised_parses
from nmtcore.job import job

with job(snakemake):
    write_linearised_parses(
        annotation=Path(snakemake.input.annotation),
        corpus=Path(snakemake.input.corpus),
        side=snakemake.wildcards.side,
        output=Path(snakemake.output[0]),
    )
