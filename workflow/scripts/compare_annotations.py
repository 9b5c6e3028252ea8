"""Compare the annotations of two annotators."""

from nmtcore.evaluation.attachment import compare_annotations
from nmtcore.job import run_job

names = snakemake.wildcards
run_job(compare_annotations, snakemake, annotators=(names.annotator, names.other))
