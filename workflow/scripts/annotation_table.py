"""Write the table of annotations and label vocabularies."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.annotation_table import write_annotation_table

with job(snakemake):
    write_annotation_table(
        [Path(path) for path in snakemake.input.reports],
        labels=[Path(path) for path in snakemake.input.labels],
        published=snakemake.params.published,
        layout=job_settings(snakemake).layout,
        json=Path(snakemake.output.json),
        table=Path(snakemake.output.table),
    )
