"""Write the manifest of a run."""

from nmtcore.job import job, job_settings
from nmtcore.reporting.manifest import RUN_KEYS, write_manifest

with job(snakemake):
    layout = job_settings(snakemake).layout
    names = layout.names(snakemake.output[0], "manifest")
    write_manifest(layout, {key: names[key] for key in RUN_KEYS}, snakemake.params.sources)
