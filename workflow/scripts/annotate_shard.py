"""Annotate one side of one shard of a split."""

from pathlib import Path

from nmtcore.annotation.shards import annotate_shard
from nmtcore.config.annotators import ANNOTATORS
from nmtcore.job import job, job_settings

with job(snakemake):
    project = job_settings(snakemake)
    annotate_shard(
        ANNOTATORS.build(snakemake.params.settings, where=snakemake.wildcards.annotator),
        corpus=Path(snakemake.input.corpus),
        raw=Path(snakemake.input.raw),
        side=snakemake.wildcards.side,
        language=snakemake.params.language,
        shard=int(snakemake.wildcards.shard),
        shards=int(snakemake.wildcards.shards),
        output=Path(snakemake.output[0]),
        model_folders=project.model_folders,
    )
