"""Write the report."""

from nmtcore.job import run_job
from nmtcore.reporting.report.page import write_report

run_job(write_report, snakemake)
