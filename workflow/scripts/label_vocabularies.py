"""List the labels of the training split's annotation."""

from nmtcore.annotation.labels import label_vocabularies
from nmtcore.job import run_job

run_job(label_vocabularies, snakemake)
