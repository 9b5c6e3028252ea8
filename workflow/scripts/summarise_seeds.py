"""Summarise a score of a system over its seeds."""

from nmtcore.evaluation.summary import write_summary
from nmtcore.job import run_job

run_job(write_summary, snakemake)
