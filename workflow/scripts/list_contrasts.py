"""List the contrastive pairs of a split: which of its rows are right and wrong translations of the same source."""

from pathlib import Path

from nmtcore.config.stages import ReadingSettings
from nmtcore.config.typed import build
from nmtcore.corpus.contrasts import list_contrasts
from nmtcore.job import job, job_settings

with job(snakemake):
    list_contrasts(
        build(ReadingSettings, snakemake.params.settings, where="the workflow"),
        dataset=snakemake.wildcards.dataset,
        downloads=Path(job_settings(snakemake).paths.downloads),
        output=Path(snakemake.output[0]),
    )
