"""List the contrastive pairs of a split: which of its rows are right and wrong translations of the same source."""

from pathlib import Path

from nmtcore.corpus.contrasts import list_contrasts
from nmtcore.job import job, job_settings

with job(snakemake):
    list_contrasts(
        snakemake.params.settings[0],
        dataset=snakemake.wildcards.dataset,
        downloads=Path(job_settings(snakemake).paths.downloads),
        output=Path(snakemake.output[0]),
    )
