"""Score the translations, and the parses if the system parses, of the test splits; write the run's manifest."""

from pathlib import Path

from nmtcore.config.stages import ScoringSettings
from nmtcore.config.typed import build
from nmtcore.evaluation.scores import score_tests
from nmtcore.job import job, planned_project
from nmtcore.planning.manifests import manifest_sources
from nmtcore.reporting.manifest import RUN_KEYS, write_manifest

with job(snakemake) as terminal:
    settings = build(ScoringSettings, snakemake.params.settings, where="the workflow")
    lines = score_tests(
        settings,
        hypotheses=Path(snakemake.input.hypotheses),
        corpora=dict(zip(settings.parsed, map(Path, snakemake.input.corpus), strict=True)),
        trees=dict(zip(settings.parsed, map(Path, snakemake.input.trees), strict=False)),
        in_train=list(map(Path, snakemake.input.in_train)),
        scores=Path(snakemake.output.scores),
        counts=Path(snakemake.output.counts),
    )
    # What the configuration says of licences is no parameter, since it changes no score.
    project = planned_project(snakemake)
    names = {key: getattr(settings, key) for key in RUN_KEYS}
    run = project.run(settings.dataset, settings.system, settings.scale, settings.seed)
    write_manifest(project.layout, names, manifest_sources(project, run=run))
    print(*lines, sep="\n", file=terminal, flush=True)
