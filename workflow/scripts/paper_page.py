"""Join the tables of a paper on one page."""

from pathlib import Path

from nmtcore.job import job
from nmtcore.reporting.paper_table import write_paper_page

with job(snakemake):
    write_paper_page([Path(path) for path in snakemake.input], Path(snakemake.output.table))
