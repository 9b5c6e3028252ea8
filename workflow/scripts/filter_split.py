from pathlib import Path

from nmtcore.corpus.filter import filter_split
from nmtcore.job import job

with job(snakemake):
    filter_split(
        snakemake.params.dataset[0],
        snakemake.wildcards.split,
        raw=Path(snakemake.input.raw),
        other_raws={Path(path).stem: Path(path) for path in snakemake.input.others},
        truecasers={Path(path).name.split(".")[1]: Path(path) for path in snakemake.input.truecasers},
        output=Path(snakemake.output.pairs),
        report=Path(snakemake.output.report),
        processes=snakemake.threads,
    )
