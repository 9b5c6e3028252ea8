"""Write and print the demo's table of scores."""

from pathlib import Path

from nmtcore.job import job
from nmtcore.reporting.demo_table import write_demo_table

with job(snakemake) as terminal:
    table = write_demo_table(
        bleu=[Path(path) for path in snakemake.input.bleu],
        uas=[Path(path) for path in snakemake.input.uas],
        output=Path(snakemake.output.table),
    )
    print(table, file=terminal, flush=True)
