"""Learn a segmentation from the training split."""

from pathlib import Path

from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.job import job
from nmtcore.segmentation.learn import learn_segmentation

with job(snakemake):
    learn_segmentation(
        Path(snakemake.input.corpus),
        SegmentationSettings.parse(snakemake.wildcards.segmentation),
        Path(snakemake.output[0]),
        selection=Path(snakemake.input.selection[0]) if snakemake.input.selection else None,
        linearised_parses=Path(snakemake.input.linearised_parses[0]) if snakemake.input.linearised_parses else None,
    )
