"""Measure the gates of a model's decoder."""

from nmtcore.experiment.inference import measure_gates
from nmtcore.job import run_job

run_job(measure_gates, snakemake)
