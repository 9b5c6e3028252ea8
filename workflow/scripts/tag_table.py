"""Write the table of predicted tags."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.tags_table import TaggedTest, write_tag_table

with job(snakemake):
    files = [map(Path, snakemake.input[name]) for name in ("hypotheses", "pairs", "features", "labels")]
    write_tag_table(
        [TaggedTest(*test) for test in zip(*files, snakemake.params.columns, strict=True)],
        layout=job_settings(snakemake).layout,
        json=Path(snakemake.output.json),
        table=Path(snakemake.output.table),
    )
