from pathlib import Path

from nmtcore.job import job
from nmtcore.reporting.parsers import write_parser_table

with job(snakemake):
    write_parser_table(
        [Path(path) for path in snakemake.input],
        benchmarks=Path(snakemake.params.benchmarks),
        json=Path(snakemake.output.json),
        table=Path(snakemake.output.table),
    )
