"""Write the table of contrastive pairs."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.contrast_table import write_contrast_table

with job(snakemake):
    write_contrast_table(
        [Path(path) for path in snakemake.input],
        left_out=snakemake.params.left_out,
        layout=job_settings(snakemake).layout,
        json=Path(snakemake.output.json),
        table=Path(snakemake.output.table),
    )
