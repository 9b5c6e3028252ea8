"""Write the table of gates by tag."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.gates_table import write_gate_table

with job(snakemake):
    write_gate_table(
        [Path(path) for path in snakemake.input],
        layout=job_settings(snakemake).layout,
        json=Path(snakemake.output.json),
        table=Path(snakemake.output.table),
    )
