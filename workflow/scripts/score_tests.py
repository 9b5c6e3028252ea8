from pathlib import Path

from nmtcore.config.runs import run_from_json
from nmtcore.evaluation.scores import score_tests
from nmtcore.job import job

with job(snakemake) as terminal:
    run = run_from_json(snakemake.params.run[0], where="the workflow")
    lines = score_tests(
        run,
        hypotheses=Path(snakemake.input.hypotheses),
        corpora=dict(zip(run.parsed_tests, map(Path, snakemake.input.corpus), strict=True)),
        trees=dict(zip(run.parsed_tests, map(Path, snakemake.input.trees), strict=False)),
        scores=Path(snakemake.output.scores),
    )
    print(*lines, sep="\n", file=terminal, flush=True)
