"""Write the table of productions per head tag."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.productions_table import write_production_table

with job(snakemake):
    write_production_table(
        [Path(path) for path in snakemake.input.parses],
        [Path(path) for path in snakemake.input.trees],
        layout=job_settings(snakemake).layout,
        scale=snakemake.params.scale,
        json=Path(snakemake.output.json),
        table=Path(snakemake.output.table),
    )
