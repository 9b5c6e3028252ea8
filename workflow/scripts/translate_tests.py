"""Translate the test splits of a run, and parse them if the system parses."""

from pathlib import Path

from nmtcore.experiment.inference import translate_tests
from nmtcore.job import job, model_arguments

with job(snakemake):
    arguments = model_arguments(snakemake)
    corpora = dict(zip(arguments["run"].tests, map(Path, snakemake.input.corpus), strict=True))
    translate_tests(**arguments, corpora=corpora, hypotheses=Path(snakemake.output.hypotheses))
