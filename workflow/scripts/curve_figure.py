"""Draw the validation curves of runs."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.curves_figure import write_curve_figure

with job(snakemake):
    write_curve_figure(
        [Path(path) for path in snakemake.input],
        beams=snakemake.params.beams,
        layout=job_settings(snakemake).layout,
        json=Path(snakemake.output.json),
        figure=Path(snakemake.output.figure),
    )
