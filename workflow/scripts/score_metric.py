"""Divide the scores that a command gave sentences among the tests."""

from nmtcore.evaluation.scores import score_metric
from nmtcore.job import run_job

run_job(score_metric, snakemake)
