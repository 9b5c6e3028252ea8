"""Score a run's translations of dev alone."""

from nmtcore.evaluation.scores import score_tests
from nmtcore.job import run_job

run_job(score_tests, snakemake)
