"""Divide the scores of COMET among the tests."""

from nmtcore.evaluation.scores import score_comet
from nmtcore.job import run_job

run_job(score_comet, snakemake)
