from pathlib import Path

from nmtcore.config.runs import run_from_json
from nmtcore.experiment.evaluation import evaluate
from nmtcore.job import job, project_settings

with job(snakemake) as terminal:
    run = run_from_json(snakemake.params.run[0], where="the workflow")
    lines = evaluate(
        run,
        model=Path(snakemake.input.model),
        features=Path(snakemake.input.features[0]).parent,
        corpora=dict(zip(run.tests, map(Path, snakemake.input.corpus), strict=True)),
        trees=dict(zip(run.tests, map(Path, snakemake.input.trees), strict=False)),
        hypotheses=Path(snakemake.output.hypotheses),
        scores=Path(snakemake.output.scores),
        device=project_settings(snakemake).device,
        threads=snakemake.threads,
    )
    print(*lines, sep="\n", file=terminal, flush=True)
