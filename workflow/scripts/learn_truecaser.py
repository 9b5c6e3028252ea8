"""Learn a truecasing model from one side of the training pairs."""

from pathlib import Path

from nmtcore.corpus.truecase import learn_truecaser
from nmtcore.job import job

with job(snakemake):
    learn_truecaser(Path(snakemake.input[0]), snakemake.wildcards.side, Path(snakemake.output[0]))
