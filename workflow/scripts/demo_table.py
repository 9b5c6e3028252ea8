"""Write the demo's tables, and the text for the terminal."""

from pathlib import Path

from nmtcore.files import write_text
from nmtcore.job import job, job_settings
from nmtcore.reporting.demo_results import demo_results
from nmtcore.reporting.demo_table import demo_text, write_demo_table

with job(snakemake):
    layout = job_settings(snakemake).layout
    results = demo_results(
        bleu=[Path(path) for path in snakemake.input.bleu],
        uas=[Path(path) for path in snakemake.input.uas],
        hypotheses=[Path(path) for path in snakemake.input.hypotheses],
        pairs=Path(snakemake.input.pairs),
        trees=Path(snakemake.input.trees),
        evaluation=snakemake.params.evaluation,
        layout=layout,
    )
    write_demo_table(results, json=Path(snakemake.output.json), table=Path(snakemake.output.table))
    write_text(Path(snakemake.output.text), demo_text(results, folder=layout.results))
