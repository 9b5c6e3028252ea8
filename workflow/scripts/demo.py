"""Write what the demo shows."""

from nmtcore.job import run_job
from nmtcore.reporting.listings import write_demo

run_job(write_demo, snakemake)
