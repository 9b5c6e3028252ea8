"""Bring translations made elsewhere into the form of our own."""

from pathlib import Path

from nmtcore.evaluation.outputs import import_translations
from nmtcore.job import job, planned_run

with job(snakemake):
    run = planned_run(snakemake)
    messages = import_translations(
        run,
        corpora=dict(zip(run.tests, map(Path, snakemake.input.corpus), strict=True)),
        reports=dict(zip(run.tests, map(Path, snakemake.input.reports), strict=True)),
        hypotheses=Path(snakemake.output.hypotheses),
    )
    print(*messages, sep="\n")
