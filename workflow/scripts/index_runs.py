"""Write the tables of all runs and all scores of the results folder, and what they answer of the ACL's checklist."""

from nmtcore.files import write_text
from nmtcore.job import job, job_settings
from nmtcore.reporting.checklist import checklist
from nmtcore.reporting.run_index import index_runs

with job(snakemake) as terminal:
    layout = job_settings(snakemake).layout
    index_runs(
        layout,
        snakemake.params.states["supertags"],
        warn=lambda sentence: print(sentence, file=terminal, flush=True),
    )
    write_text(snakemake.output.checklist, checklist(layout, snakemake.params.datasets))
