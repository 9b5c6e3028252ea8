"""Write the attention weights of a model."""

from nmtcore.experiment.inference import measure_attention
from nmtcore.job import run_job

run_job(measure_attention, snakemake)
