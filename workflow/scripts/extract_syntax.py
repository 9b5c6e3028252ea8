"""Compute the syntactic features of one side of a split from an annotator's output."""

from pathlib import Path

from nmtcore.features.extract import extract_syntax
from nmtcore.job import job

with job(snakemake):
    extract_syntax(
        annotation=Path(snakemake.input.annotation),
        labels=Path(snakemake.input.labels),
        tokens=Path(snakemake.input.tokens),
        annotation_names=snakemake.params.annotation_names,
        side=snakemake.wildcards.side,
        selection=Path(snakemake.input.selection[0]) if snakemake.input.selection else None,
        output=Path(snakemake.output[0]),
    )
