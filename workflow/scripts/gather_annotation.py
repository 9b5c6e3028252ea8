"""Join the shards of an annotation, and count what could not be analysed."""

from nmtcore.annotation.shards import gather_shards
from nmtcore.job import run_job

run_job(gather_shards, snakemake)
