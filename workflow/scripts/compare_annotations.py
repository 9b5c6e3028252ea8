"""Compare the annotations of two annotators."""

from pathlib import Path

from nmtcore.evaluation.comparison import compare_annotations
from nmtcore.job import job

with job(snakemake):
    compare_annotations(
        Path(snakemake.input.first),
        Path(snakemake.input.second),
        annotators=(snakemake.wildcards.annotator, snakemake.wildcards.other),
        corpus=Path(snakemake.input.corpus),
        side=snakemake.wildcards.side,
        output=Path(snakemake.output[0]),
    )
