"""List the contrastive pairs of a split: which of its rows are right and wrong translations of the same source."""

from nmtcore.corpus.contrasts import list_contrasts
from nmtcore.job import run_job

run_job(list_contrasts, snakemake)
