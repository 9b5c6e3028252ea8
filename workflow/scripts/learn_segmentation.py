"""Learn how words are split into subwords."""

from nmtcore.job import run_job
from nmtcore.segmentation.learn import learn_segmentation

run_job(learn_segmentation, snakemake)
