from pathlib import Path

from nmtcore.config.datasets import SegmentationSettings
from nmtcore.job import job
from nmtcore.segmentation.learn import learn_segmentation

with job(snakemake):
    settings = SegmentationSettings.parse(snakemake.wildcards.segmentation)
    learn_segmentation(Path(snakemake.input[0]), settings, Path(snakemake.output[0]))
