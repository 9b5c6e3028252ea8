from pathlib import Path

from nmtcore.config.runs import run_from_json
from nmtcore.experiment.inference import translate_tests
from nmtcore.job import job, project_settings

with job(snakemake):
    run = run_from_json(snakemake.params.run[0], where="the workflow")
    translate_tests(
        run,
        model=Path(snakemake.input.model),
        features=Path(snakemake.input.features[0]).parent,
        corpora=dict(zip(run.tests, map(Path, snakemake.input.corpus), strict=True)),
        hypotheses=Path(snakemake.output.hypotheses),
        device=project_settings(snakemake).device,
        threads=snakemake.threads,
    )
