"""Cut the linearised parses of a split into subwords."""

from pathlib import Path

from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.features.linearised_parses import extract_linearised_parses
from nmtcore.job import job

with job(snakemake):
    extract_linearised_parses(
        linearised_parses=Path(snakemake.input.linearised_parses),
        segmentation=Path(snakemake.input.segmentation),
        settings=SegmentationSettings.parse(snakemake.wildcards.segmentation),
        selection=Path(snakemake.input.selection[0]) if snakemake.input.selection else None,
        output=Path(snakemake.output[0]),
    )
