"""Write the scores that COMET gave to the sentences of a run's tests, and their means."""

from pathlib import Path

from nmtcore.config.stages import ScoringSettings
from nmtcore.config.typed import build
from nmtcore.evaluation.scores import score_comet
from nmtcore.job import job

with job(snakemake) as terminal:
    scoring = build(ScoringSettings, snakemake.params.settings, where="the workflow")
    lines = score_comet(
        scoring,
        model=snakemake.params.model,
        output=Path(snakemake.input.output),
        hypotheses=Path(snakemake.input.hypotheses),
        counts=Path(snakemake.output.counts),
        scores=Path(snakemake.output.scores),
    )
    print(*lines, sep="\n", file=terminal, flush=True)
