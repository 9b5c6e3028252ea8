"""Write the sentences of a run's tests for COMET, with the model and how to run it."""

from nmtcore.evaluation.scores import write_comet_input
from nmtcore.job import job, job_arguments, job_settings
from nmtcore.planning.evaluation import comet_checkpoint

with job(snakemake):
    settings = job_settings(snakemake)
    comet = {"checkpoint": comet_checkpoint(settings), "batch": settings.comet.batch}
    write_comet_input(**job_arguments(write_comet_input, snakemake, **comet))
