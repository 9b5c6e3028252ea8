"""Draw the figure of constructions."""

from pathlib import Path

from nmtcore.job import job
from nmtcore.reporting.constructions_figure import write_construction_figure

with job(snakemake):
    write_construction_figure(Path(snakemake.input[0]), figure=Path(snakemake.output[0]))
