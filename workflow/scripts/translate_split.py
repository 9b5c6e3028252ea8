"""Translate a test with a run's model."""

from nmtcore.experiment.inference import translate_split
from nmtcore.job import run_job

run_job(translate_split, snakemake)
