"""Annotate one side of one shard of a split."""

from nmtcore.annotation.shards import annotate_shard
from nmtcore.config.datasets import ANNOTATORS
from nmtcore.job import job_settings, run_job

settings = ANNOTATORS.build(snakemake.params.settings, where=snakemake.wildcards.annotator)
run_job(annotate_shard, snakemake, settings=settings, model_folders=job_settings(snakemake).model_folders)
