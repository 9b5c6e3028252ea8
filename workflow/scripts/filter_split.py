"""Filter the sentence pairs of a split and truecase their words."""

from pathlib import Path

from nmtcore.corpus.filter import filter_split
from nmtcore.job import job, job_settings

with job(snakemake):
    layout = job_settings(snakemake).layout
    filter_split(
        snakemake.params.settings[0],
        dataset=snakemake.wildcards.dataset,
        raw=Path(snakemake.input.raw),
        other_raws={layout.names(path, "raw_pairs")["split"]: Path(path) for path in snakemake.input.others},
        truecasers={layout.names(path, "truecaser")["side"]: Path(path) for path in snakemake.input.truecasers},
        output=Path(snakemake.output.pairs),
        report=Path(snakemake.output.report),
        processes=snakemake.threads,
    )
