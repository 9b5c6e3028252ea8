"""Choose the trial of a sweep that is best on dev; translate and score its tests."""

from nmtcore.experiment.inference import score_choice
from nmtcore.job import planned_project, run_job

run_job(score_choice, snakemake, project=planned_project(snakemake))
