"""Bring translations made elsewhere into the form of our own."""

from pathlib import Path

from nmtcore.config.runs import run_from_json
from nmtcore.evaluation.external import import_translations
from nmtcore.job import job

with job(snakemake):
    run = run_from_json(snakemake.params.run[0], where="the workflow")
    messages = import_translations(
        run,
        corpora=dict(zip(run.tests, map(Path, snakemake.input.corpus), strict=True)),
        reports=dict(zip(run.tests, map(Path, snakemake.input.reports), strict=True)),
        hypotheses=Path(snakemake.output.hypotheses),
    )
    print(*messages, sep="\n")
