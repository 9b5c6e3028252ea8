"""Write a published model as the bundle of an imported run."""

from nmtcore.inference.marian import import_model
from nmtcore.job import run_job

run_job(import_model, snakemake)
