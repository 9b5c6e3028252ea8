from pathlib import Path

from nmtcore.annotation.labels import label_vocabularies
from nmtcore.job import job

with job(snakemake):
    label_vocabularies(Path(snakemake.input[0]), Path(snakemake.output[0]))
