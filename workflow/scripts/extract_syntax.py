"""Compute the syntactic features of one side of a split from an annotator's output."""

from nmtcore.features.extract import extract_syntax
from nmtcore.job import run_job

run_job(extract_syntax, snakemake)
