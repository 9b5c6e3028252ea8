"""Filter the sentence pairs of a split."""

from pathlib import Path

from nmtcore.corpus.filters import filter_split
from nmtcore.job import run_job

others = {Path(path).stem: Path(path) for path in snakemake.input.others}
run_job(filter_split, snakemake, other_raws=others, processes=snakemake.threads)
