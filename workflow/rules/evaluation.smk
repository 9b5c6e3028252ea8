# Translations made elsewhere; scores of a run, also by COMET in an environment of its own, and its manifest; summaries of
# a system over its seeds; what the demo shows.
import shlex
import sys
from dataclasses import replace

from nmtcore.config.stages import ScoringSettings
from nmtcore.planning.evaluation import (
    demo_comparison,
    demo_counts,
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


rule prepare_comet:
    input:
        hypotheses=planned(translation_folders),
        corpora=planned(pair_files, splits="tests"),
    output:
        temp(LAYOUT.pattern("comet_input")),
    params:
        model=lambda wildcards: SETTINGS.comet.model,
        settings=scoring_param(ScoringSettings.of_comet),
    script:
        "../scripts/prepare_comet.py"


# Its program, which is not of this package, gets its slot of a GPU from another one.
ON_SLOT = f"{shlex.quote(sys.executable)} -P -m nmtcore.gpus " if GPUS else ""


rule run_comet:
    input:
        LAYOUT.pattern("comet_input"),
    output:
        temp(LAYOUT.pattern("comet_output")),
    conda:
        "../../envs/comet.yaml"
    threads: SETTINGS.threads
    resources:
        mem_mb=16000,
        runtime=240,
        gpu=min(GPUS, 1),
        # Where programs are changes no scores, so these are no parameters.
        python=SETTINGS.comet.python or "python",
        script=workflow.source_path("../scripts/run_comet.py"),
    shell:
        ON_SLOT
        + "{resources.python:q} {resources.script:q} {input:q} {output:q} > {log:q} 2>&1"
        " || (tail -n 1 {log:q} >&2; exit 1)"


rule score_comet:
    input:
        output=LAYOUT.pattern("comet_output"),
        hypotheses=planned(translation_folders),
    output:
        counts=directory(LAYOUT.pattern("comet_counts")),
        scores=LAYOUT.pattern("comet_scores"),
    params:
        model=lambda wildcards: SETTINGS.comet.model,
        settings=scoring_param(ScoringSettings.of_comet),
    script:
        "../scripts/score_comet.py"


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
