"""Write what the demo shows at its end."""

from pathlib import Path

from nmtcore.files import write_text
from nmtcore.job import job, job_settings
from nmtcore.reporting.demo_results import demo_text

with job(snakemake):
    layout = job_settings(snakemake).layout
    counts = [Path(path) for path in snakemake.input]
    write_text(Path(snakemake.output[0]), demo_text(counts, layout=layout, **snakemake.params.comparison))
