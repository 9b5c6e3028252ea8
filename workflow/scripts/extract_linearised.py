from pathlib import Path

from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.features.linearised import extract_linearised
from nmtcore.job import job

with job(snakemake):
    extract_linearised(
        brackets=Path(snakemake.input.brackets),
        segmentation=Path(snakemake.input.segmentation),
        settings=SegmentationSettings.parse(snakemake.wildcards.segmentation),
        selection=Path(snakemake.input.selection[0]) if snakemake.input.selection else None,
        output=Path(snakemake.output[0]),
    )
