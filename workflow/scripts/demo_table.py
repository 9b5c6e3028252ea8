"""Write the demo's table, and the text for the terminal."""

from pathlib import Path

from nmtcore.job import job, job_settings
from nmtcore.reporting.demo_results import demo_results, write_demo

with job(snakemake):
    layout = job_settings(snakemake).layout
    inputs = {name: [Path(path) for path in snakemake.input[name]] for name in ("bleu", "uas", "counts")}
    results = demo_results(**inputs, trees=Path(snakemake.input.trees), layout=layout)
    outputs = {name: Path(snakemake.output[name]) for name in ("json", "table", "text")}
    write_demo(results, folder=layout.results, **outputs)
