"""Write the table of parsers' scores and speeds."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.parsers_table import write_parser_table

with job(snakemake):
    write_parser_table(
        [Path(path) for path in snakemake.input],
        layout=job_settings(snakemake).layout,
        json=Path(snakemake.output.json),
        table=Path(snakemake.output.table),
    )
