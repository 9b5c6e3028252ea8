"""Download a corpus file."""

from pathlib import Path

from nmtcore.corpus.download import download
from nmtcore.job import job_settings, log_is_shown, run_job

settings = job_settings(snakemake)
folders = {"mirror_roots": settings.mirrors, "manual_folder": Path(settings.paths.manual)}
run_job(download, snakemake, **folders, http_hosts=settings.http_hosts, progress=log_is_shown())
