"""Learn a segmentation from the training split."""

from pathlib import Path

from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.job import run_job
from nmtcore.segmentation.learn import learn_segmentation

settings = SegmentationSettings.parse(snakemake.wildcards.segmentation)
run_job(learn_segmentation, snakemake, settings=settings, folder=Path(snakemake.output[0]))
