"""List the right and wrong translations of contrastive pairs."""

from nmtcore.corpus.contrasts import list_contrasts
from nmtcore.job import run_job

run_job(list_contrasts, snakemake)
