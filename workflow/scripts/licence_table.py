"""Write the table of the licences of all corpora and models that were used."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.licences_table import write_licence_table

with job(snakemake) as terminal:
    write_licence_table(
        job_settings(snakemake).layout,
        snakemake.params.datasets["datasets"],
        json=Path(snakemake.output.json),
        table=Path(snakemake.output.table),
        warn=lambda sentence: print(sentence, file=terminal, flush=True),
    )
