"""Select the training pairs that have the annotations the data set requires."""

from pathlib import Path

from nmtcore.annotation.selection import select_pairs
from nmtcore.config.datasets import SelectionSettings
from nmtcore.config.typed import build
from nmtcore.job import run_job

settings = build(SelectionSettings, snakemake.params.selection, where=snakemake.wildcards.dataset)
files = iter(map(Path, snakemake.input.annotations))
annotations = {side: {name: next(files) for name in names} for side, names in settings.parsed.items()}
run_job(select_pairs, snakemake, settings=settings, annotations=annotations)
