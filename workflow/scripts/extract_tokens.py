"""Cut the words of one side of a split into subwords and look up their ids."""

from pathlib import Path

from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.features.extract import extract_subwords
from nmtcore.job import job

with job(snakemake):
    extract_subwords(
        words=Path(snakemake.input.corpus),
        column=f"{snakemake.wildcards.side}_words",
        segmentation=Path(snakemake.input.segmentation),
        settings=SegmentationSettings.parse(snakemake.wildcards.segmentation),
        side=snakemake.wildcards.side,
        selection=Path(snakemake.input.selection[0]) if snakemake.input.selection else None,
        output=Path(snakemake.output[0]),
    )
