"""Write the report."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.report.page import ReportInputs, write_report

with job(snakemake):
    write_report(
        ReportInputs(
            scale=snakemake.params.scale,
            tables=[Path(path) for path in snakemake.input.tables],
            figures=[Path(path) for path in snakemake.input.figures],
            claims=Path(snakemake.input.claims),
            descriptions=snakemake.params.descriptions,
            tests=snakemake.params.tests,
            baseline=snakemake.params.baseline,
            datasets=snakemake.params.datasets,
        ),
        layout=job_settings(snakemake).layout,
        page=Path(snakemake.output[0]),
    )
