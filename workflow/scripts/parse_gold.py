from pathlib import Path

from nmtcore.config.runs import run_from_json
from nmtcore.experiment.inference import parse_gold
from nmtcore.job import job, project_settings

with job(snakemake):
    parse_gold(
        run_from_json(snakemake.params.run[0], where="the workflow"),
        model=Path(snakemake.input.model),
        features=Path(snakemake.input.features[0]).parent,
        parses=Path(snakemake.output.parses),
        device=project_settings(snakemake).device,
        threads=snakemake.threads,
    )
