"""Write the table of the licences of all corpora and models that were used."""

from nmtcore.job import run_job
from nmtcore.reporting.data_table import write_licence_table

run_job(write_licence_table, snakemake)
