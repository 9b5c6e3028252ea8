"""Score the translations, and the parses if the system parses, of the test splits; write the run's manifest."""

from nmtcore.evaluation.scores import score_tests
from nmtcore.job import job, job_arguments, planned_project, planned_run
from nmtcore.planning.manifests import manifest_sources
from nmtcore.reporting.manifest import RUN_KEYS, write_manifest

with job(snakemake) as terminal:
    lines = score_tests(**job_arguments(score_tests, snakemake))
    # What the configuration says of licences is no parameter, since it changes no score.
    project, run = planned_project(snakemake), planned_run(snakemake)
    names = {key: getattr(run, key) for key in RUN_KEYS}
    write_manifest(project.layout, names, manifest_sources(project, run=run))
    print(*lines, sep="\n", file=terminal, flush=True)
