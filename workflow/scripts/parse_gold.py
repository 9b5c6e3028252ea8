"""Parse a gold treebank with a run's model."""

from nmtcore.experiment.inference import parse_gold
from nmtcore.job import run_job

run_job(parse_gold, snakemake)
