"""Write the sentences of a run's tests for COMET, with the model and how to run it."""

from pathlib import Path

from nmtcore.config.stages import ScoringSettings
from nmtcore.config.typed import build
from nmtcore.evaluation.scores import write_comet_input
from nmtcore.job import job, job_settings
from nmtcore.planning.comet import comet_checkpoint

with job(snakemake):
    settings = job_settings(snakemake)
    scoring = build(ScoringSettings, snakemake.params.settings, where="the workflow")
    write_comet_input(
        hypotheses=Path(snakemake.input.hypotheses),
        corpora=dict(zip(scoring.splits, map(Path, snakemake.input.corpus), strict=True)),
        checkpoint=comet_checkpoint(settings),
        batch=settings.comet.batch,
        device=settings.device,
        output=Path(snakemake.output[0]),
    )
