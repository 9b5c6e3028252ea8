"""Cut the linearised parses of a split into subwords."""

from pathlib import Path

from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.features.extract import extract_subwords
from nmtcore.features.schema import LINEARISED_TOKENS_SCHEMA
from nmtcore.job import job

with job(snakemake):
    extract_subwords(
        words=Path(snakemake.input.linearised_parses),
        column="brackets",
        segmentation=Path(snakemake.input.segmentation),
        settings=SegmentationSettings.parse(snakemake.wildcards.segmentation),
        side="target",
        schema=LINEARISED_TOKENS_SCHEMA,
        selection=Path(snakemake.input.selection[0]) if snakemake.input.selection else None,
        output=Path(snakemake.output[0]),
    )
