"""Write the table of systems' scores and training speeds."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.systems_table import write_system_table

with job(snakemake):
    write_system_table(
        **{name: [Path(path) for path in snakemake.input[name]] for name in ("bleu", "uas", "induced", "histories")},
        layout=job_settings(snakemake).layout,
        external=snakemake.params.external,
        json=Path(snakemake.output.json),
        table=Path(snakemake.output.table),
    )
