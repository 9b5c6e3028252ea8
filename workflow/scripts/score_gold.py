"""Score a run's parses of gold treebanks."""

from nmtcore.evaluation.scores import score_gold
from nmtcore.job import run_job

run_job(score_gold, snakemake)
