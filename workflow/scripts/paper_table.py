"""Write a table of a paper."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.paper_table import write_paper_table

with job(snakemake):
    write_paper_table(
        snakemake.params.plan,
        layout=job_settings(snakemake).layout,
        json=Path(snakemake.output.json),
        table=Path(snakemake.output.table),
    )
