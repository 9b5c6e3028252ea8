"""Parse the gold treebanks of a run."""

from nmtcore.experiment.inference import parse_gold
from nmtcore.job import model_arguments, run_job

run_job(parse_gold, snakemake, **model_arguments(snakemake))
