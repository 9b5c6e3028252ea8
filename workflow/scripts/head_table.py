"""Write the table of the attention heads that parse best."""

from pathlib import Path

from nmtcore.job import job
from nmtcore.reporting.heads_table import write_head_table

with job(snakemake):
    write_head_table(
        [Path(path) for path in snakemake.input],
        json=Path(snakemake.output.json),
        table=Path(snakemake.output.table),
    )
