"""Score a model's attention heads as parsers."""

from nmtcore.experiment.inference import measure_heads
from nmtcore.job import run_job

run_job(measure_heads, snakemake)
