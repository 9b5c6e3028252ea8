"""Write the table of constructions."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.constructions_table import write_construction_table

with job(snakemake):
    write_construction_table(
        [Path(path) for path in snakemake.input.hypotheses],
        tests=snakemake.params.tests,
        baseline=snakemake.params.baseline,
        left_out=snakemake.params.left_out,
        layout=job_settings(snakemake).layout,
        scale=snakemake.params.scale,
        json=Path(snakemake.output.json),
        table=Path(snakemake.output.table),
    )
