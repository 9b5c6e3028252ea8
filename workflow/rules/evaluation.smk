# Translations made elsewhere; scores of a run, also by commands in environments of their own (COMET), and its manifest;
# summaries of a system over its seeds; what the demo shows.
import sys
from dataclasses import replace

from nmtcore.config.metrics import command_metric
from nmtcore.config.stages import ScoringSettings
from nmtcore.planning.evaluation import (
    conda_file,
    demo_comparison,
    demo_counts,
    metric_made_from,
    metric_model,
    missing_seed_notes,
    pair_files,
    pairs_in_train,
    parse_folders,
    seed_scores,
    summary_seeds,
    translation_file,
    translation_folders,
    tree_files,
)
from nmtcore.tables.plan import planned_choice


rule import_translations:
    input:
        translations=planned(translation_file),
        corpus=LAYOUT.pattern("pairs"),
        report=LAYOUT.pattern("raw_report"),
    output:
        hypotheses=directory(LAYOUT.pattern("hypotheses")),
    wildcard_constraints:
        system=EXTERNAL,
    params:
        **run_params(inference_settings, "evaluation", "sentences"),
    script:
        "../scripts/import_translations.py"


rule score_tests:
    input:
        hypotheses=planned(translation_folders),
        corpora=planned(pair_files, splits="parsed_tests"),
        trees=planned(tree_files, splits="parsed_tests"),
        in_train=planned(pairs_in_train),
    output:
        scores=LAYOUT.pattern("scores"),
        counts=directory(LAYOUT.pattern("counts")),
        manifest=LAYOUT.pattern("manifest"),
    params:
        manifests=MANIFESTS,
        settings=scoring_param(ScoringSettings.of_tests),
    script:
        "../scripts/score_tests.py"


rule score_gold:
    input:
        parses=planned(parse_folders),
        corpora=planned(pair_files, splits="gold"),
        trees=planned(tree_files, splits="gold"),
    output:
        scores=LAYOUT.pattern("gold_scores"),
        counts=directory(LAYOUT.pattern("gold_counts")),
    params:
        settings=scoring_param(ScoringSettings.of_gold),
    script:
        "../scripts/score_gold.py"


# Dev alone: what a sweep chooses by, so that no test is translated for it.
rule score_dev:
    input:
        hypotheses=[LAYOUT.pattern("hypotheses", split="dev")],
        corpora=[],
        trees=[],
    output:
        scores=LAYOUT.pattern("dev_scores"),
        counts=directory(LAYOUT.pattern("dev_counts")),
    wildcard_constraints:
        system=TRAINED,
    params:
        settings=scoring_param(
            lambda run: replace(
                ScoringSettings.of_tests(run), splits=("dev",), parsed=()
            )
        ),
    script:
        "../scripts/score_dev.py"


# It also translates the tests: which trial dev chooses, only this job knows.
rule score_choice:
    input:
        lambda wildcards: planned(planned_choice)(wildcards)["files"],
    output:
        directory(LAYOUT.pattern("choice")),
    threads: SETTINGS.threads
    resources:
        **{**WITH_MODEL, "runtime": 480},
    params:
        sweep=planned(planned_choice),
        inference=VERSIONS["inference"],
    script:
        "../scripts/score_choice.py"


rule run_metric:
    input:
        hypotheses=planned(translation_folders),
        pairs=planned(pair_files, splits="tests"),
    output:
        temp(LAYOUT.pattern("metric_output")),
    conda:
        lambda wildcards: conda_file(wildcards.metric)
    threads: SETTINGS.threads
    resources:
        mem_mb=16000,
        runtime=240,
        gpu=lambda wildcards: min(
            GPUS, int("{device}" in command_metric(wildcards.metric).command)
        ),
        # Where programs and models are changes no scores, so these are no parameters.
        python=sys.executable,
        model=lambda wildcards: metric_model(SETTINGS, wildcards.metric) or "-",
        device=SETTINGS.device,
    params:
        made_from=planned(metric_made_from),
    shell:
        "{resources.python:q} -P -m nmtcore.evaluation.outside {wildcards.metric} {output:q}"
        " {resources.model:q} {resources.device} {resources.gpu} {input.hypotheses:q} {input.pairs:q} > {log:q} 2>&1"
        " || (tail -n 1 {log:q} >&2; exit 1)"


rule score_metric:
    input:
        output=LAYOUT.pattern("metric_output"),
        hypotheses=planned(translation_folders),
        pairs=planned(pair_files, splits="tests"),
    output:
        counts=directory(LAYOUT.pattern("metric_counts")),
        scores=LAYOUT.pattern("metric_scores"),
    params:
        made_from=planned(metric_made_from),
        settings=scoring_param(ScoringSettings.of_command),
    script:
        "../scripts/score_metric.py"


rule summarise_seeds:
    input:
        scores=planned(seed_scores, notes=missing_seed_notes),
    output:
        report(LAYOUT.pattern("summary"), category="Scores"),
    params:
        seeds=planned(summary_seeds),
    script:
        "../scripts/summarise_seeds.py"


rule demo:
    input:
        counts=planned(demo_counts),
    output:
        LAYOUT.pattern("demo_text"),
    params:
        comparison=planned(demo_comparison),
    script:
        "../scripts/demo.py"
