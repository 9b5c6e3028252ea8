"""Collect the label vocabularies of an annotation."""

from pathlib import Path

from nmtcore.annotation.labels import label_vocabularies
from nmtcore.job import job

with job(snakemake):
    label_vocabularies(
        Path(snakemake.input.annotation),
        Path(snakemake.output[0]),
        selection=Path(snakemake.input.selection[0]) if snakemake.input.selection else None,
    )
