"""Compute the log-probabilities of contrastive pairs."""

from nmtcore.experiment.inference import measure_contrasts
from nmtcore.job import run_job

run_job(measure_contrasts, snakemake)
