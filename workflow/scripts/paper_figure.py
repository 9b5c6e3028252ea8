"""Draw a figure of a paper."""

from pathlib import Path

from nmtcore.job import job
from nmtcore.reporting.paper_table import draw_paper_figure

with job(snakemake):
    draw_paper_figure(Path(snakemake.input[0]), Path(snakemake.output[0]))
