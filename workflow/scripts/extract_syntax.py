"""Turn an annotation into features of words."""

from nmtcore.features.extract import extract_syntax
from nmtcore.job import run_job

run_job(extract_syntax, snakemake)
