"""Write the ledger of the papers' claims."""

from pathlib import Path

from nmtcore.job import job
from nmtcore.reporting.paper_table import write_claims

with job(snakemake):
    write_claims(
        [Path(path) for path in snakemake.input],
        scale=snakemake.params.scale,
        json=Path(snakemake.output.json),
        table=Path(snakemake.output.table),
    )
