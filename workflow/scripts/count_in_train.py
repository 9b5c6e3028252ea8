"""Count the pairs of a split that are also in train."""

from nmtcore.corpus.filters import count_in_train
from nmtcore.job import run_job

run_job(count_in_train, snakemake)
