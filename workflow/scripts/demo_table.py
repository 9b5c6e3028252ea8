"""Write the demo's tables."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.demo_results import demo_results
from nmtcore.reporting.demo_table import write_demo_table

with job(snakemake) as terminal:
    results = demo_results(
        bleu=[Path(path) for path in snakemake.input.bleu],
        uas=[Path(path) for path in snakemake.input.uas],
        hypotheses=[Path(path) for path in snakemake.input.hypotheses],
        pairs=Path(snakemake.input.pairs),
        trees=Path(snakemake.input.trees),
        evaluation=snakemake.params.evaluation,
        layout=job_settings(snakemake).layout,
    )
    table = write_demo_table(results, json=Path(snakemake.output.json), table=Path(snakemake.output.table))
    print(table, file=terminal, flush=True)
