"""List the labels in a column of the training split's annotation."""

from nmtcore.annotation.labels import column_labels
from nmtcore.job import run_job

run_job(column_labels, snakemake)
