"""Score the parses of the gold treebanks."""

from pathlib import Path

from nmtcore.config.stages import ScoringSettings
from nmtcore.config.typed import build
from nmtcore.evaluation.scores import score_gold
from nmtcore.job import job

with job(snakemake) as terminal:
    settings = build(ScoringSettings, snakemake.params.settings, where="the workflow")
    lines = score_gold(
        settings,
        parses=Path(snakemake.input.parses),
        corpora=dict(zip(settings.parsed, map(Path, snakemake.input.corpus), strict=True)),
        trees=dict(zip(settings.parsed, map(Path, snakemake.input.trees), strict=True)),
        scores=Path(snakemake.output.scores),
        counts=Path(snakemake.output.counts),
    )
    print(*lines, sep="\n", file=terminal, flush=True)
