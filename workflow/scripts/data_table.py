"""Write the table of the data sets' sizes after each stage."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.data_table import write_data_table

with job(snakemake):
    write_data_table(
        [Path(path) for path in snakemake.input.reports],
        features=[Path(path) for path in snakemake.input.features],
        published=snakemake.params.published,
        layout=job_settings(snakemake).layout,
        json=Path(snakemake.output.json),
        table=Path(snakemake.output.table),
    )
