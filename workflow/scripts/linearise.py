from pathlib import Path

from nmtcore.annotation.linearise import linearise_annotation
from nmtcore.job import job

with job(snakemake):
    linearise_annotation(
        annotation=Path(snakemake.input.annotation),
        corpus=Path(snakemake.input.corpus),
        side=snakemake.wildcards.side,
        output=Path(snakemake.output[0]),
    )
