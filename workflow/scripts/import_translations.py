"""Bring translations made elsewhere into the form of our own."""

from nmtcore.evaluation.outputs import import_translations
from nmtcore.job import run_job

run_job(import_translations, snakemake)
