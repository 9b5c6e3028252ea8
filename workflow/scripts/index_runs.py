"""Write the tables of all runs and all scores of the results folder."""

from nmtcore.job import run_job
from nmtcore.reporting.run_index import index_runs

run_job(index_runs, snakemake)
