"""Read a split: tokenise its sentence pairs and write them to Parquet, before filtering."""

from pathlib import Path

from nmtcore.config.stages import ReadingSettings
from nmtcore.config.typed import build
from nmtcore.corpus.read import read_split
from nmtcore.job import job, job_settings

with job(snakemake) as terminal:
    counts = read_split(
        build(ReadingSettings, snakemake.params.settings, where="the workflow"),
        dataset=snakemake.wildcards.dataset,
        split=snakemake.wildcards.split,
        downloads=Path(job_settings(snakemake).paths.downloads),
        output=Path(snakemake.output.pairs),
        report=Path(snakemake.output.report),
    )
    for warning in counts["warnings"]:
        where = f"{snakemake.wildcards.dataset}, split {snakemake.wildcards.split}"
        print(f"{where}: {warning}", file=terminal, flush=True)
