"""Filter the sentence pairs of a split."""

from nmtcore.corpus.filters import filter_split
from nmtcore.job import run_job

run_job(filter_split, snakemake, processes=snakemake.threads)
