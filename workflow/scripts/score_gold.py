from pathlib import Path

from nmtcore.config.runs import run_from_json
from nmtcore.evaluation.scores import score_gold
from nmtcore.job import job

with job(snakemake) as terminal:
    run = run_from_json(snakemake.params.run[0], where="the workflow")
    lines = score_gold(
        run,
        parses=Path(snakemake.input.parses),
        corpora=dict(zip(run.gold, map(Path, snakemake.input.corpus), strict=True)),
        trees=dict(zip(run.gold, map(Path, snakemake.input.trees), strict=True)),
        scores=Path(snakemake.output.scores),
    )
    print(*lines, sep="\n", file=terminal, flush=True)
