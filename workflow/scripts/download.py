"""Download a corpus file."""

from pathlib import Path

from nmtcore.config.corpora import FileSettings
from nmtcore.config.typed import build
from nmtcore.corpus.download import download
from nmtcore.job import job, job_settings, log_is_shown

with job(snakemake):
    settings = job_settings(snakemake)
    download(
        build(FileSettings, snakemake.params.settings, where=snakemake.wildcards.file),
        target=Path(snakemake.output.file),
        mirror_roots=settings.mirrors,
        manual_folder=Path(settings.paths.manual),
        http_hosts=settings.http_hosts,
        progress=log_is_shown(),
    )
