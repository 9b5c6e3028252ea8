"""Write constituents as brackets and words."""

from nmtcore.annotation.labels import write_linearised_parses
from nmtcore.job import run_job

run_job(write_linearised_parses, snakemake)
