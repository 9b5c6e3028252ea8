"""Read a split: tokenise its sentence pairs and write them to Parquet, before filtering."""

from nmtcore.corpus.read import read_split
from nmtcore.job import job, job_arguments

with job(snakemake) as terminal:
    counts = read_split(**job_arguments(read_split, snakemake))
    for warning in counts["warnings"]:
        where = f"{snakemake.wildcards.dataset}, split {snakemake.wildcards.split}"
        print(f"{where}: {warning}", file=terminal, flush=True)
