"""Filter the sentence pairs of a split."""

from pathlib import Path

from nmtcore.config.stages import FilteringSettings
from nmtcore.config.typed import build
from nmtcore.corpus.filters import filter_split
from nmtcore.job import job, job_settings

with job(snakemake):
    layout = job_settings(snakemake).layout
    filter_split(
        build(FilteringSettings, snakemake.params.settings, where="the workflow"),
        dataset=snakemake.wildcards.dataset,
        raw=Path(snakemake.input.raw),
        other_raws={layout.names(path, "raw_pairs")["split"]: Path(path) for path in snakemake.input.others},
        output=Path(snakemake.output.pairs),
        report=Path(snakemake.output.report),
        processes=snakemake.threads,
    )
