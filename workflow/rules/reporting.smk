# Tables and figures of the configured data sets and systems: sizes after each stage, annotations, scores of parsers and
# systems, gates by tag, attention heads as parsers, productions; differences from a baseline by construction, examples,
# validation curves, predicted tags, contrastive pairs. The index of all runs, and the licences of all data.
# Each table is written as Markdown, CSV, LaTeX and HTML.
# A name of the user's choice, results/tables/NAME/systems.md, keeps several versions of a table or figure apart.
from nmtcore.planning.analysis import (
    analysed_tests,
    compared_baseline,
    construction_inputs,
    construction_results,
    example_inputs,
    validation_beams,
)
from nmtcore.planning.configured import (
    configured_contrasts,
    configured_gates,
    configured_gold_parses,
    configured_heads,
    configured_histories,
    configured_scores,
    configured_tag_columns,
    configured_tag_files,
    curve_histories,
    left_out_systems,
    without_contrasts,
)
from nmtcore.planning.configured_data import (
    configured_annotation_reports,
    configured_comparisons,
    configured_labels,
    configured_reports,
    configured_tokens,
    configured_treebanks,
    published_sizes,
)
from nmtcore.planning.external import external_notes
from nmtcore.planning.manifests import read_datasets, run_states


localrules:
    data_table,
    annotation_table,
    parser_table,
    system_table,
    gate_table,
    head_table,
    production_table,
    construction_table,
    construction_figure,
    example_table,
    curve_figure,
    tag_table,
    contrast_table,
    index_runs,
    licence_table,


rule data_table:
    input:
        reports=planned(configured_reports),
        features=planned(configured_tokens),
    output:
        **table_files("data"),
        json=LAYOUT.pattern("data_json"),
    log:
        LAYOUT.log("data_table"),
    benchmark:
        LAYOUT.benchmark("data_table")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        published=planned(published_sizes, counted="pairs"),
    script:
        "../scripts/data_table.py"


rule annotation_table:
    input:
        reports=planned(configured_annotation_reports),
        labels=planned(configured_labels),
    output:
        **table_files("annotation"),
        json=LAYOUT.pattern("annotation_json"),
    log:
        LAYOUT.log("annotation_table"),
    benchmark:
        LAYOUT.benchmark("annotation_table")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        published=planned(published_sizes, counted="tags"),
    script:
        "../scripts/annotation_table.py"


rule parser_table:
    input:
        planned(configured_comparisons),
    output:
        **table_files("parser"),
        json=LAYOUT.pattern("parser_json"),
    log:
        LAYOUT.log("parser_table"),
    benchmark:
        LAYOUT.benchmark("parser_table")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        datasets=list(SETTINGS.datasets),
    script:
        "../scripts/parser_table.py"


rule system_table:
    input:
        bleu=planned(configured_scores, score="bleu"),
        uas=planned(configured_scores, score="uas"),
        induced=planned(configured_scores, score="gold.uas", trees="induced"),
        histories=planned(configured_histories),
    output:
        **table_files("system"),
        json=LAYOUT.pattern("system_json"),
    log:
        LAYOUT.log("system_table"),
    benchmark:
        LAYOUT.benchmark("system_table")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        scale=SETTINGS.scale,
        external=planned(external_notes),
    script:
        "../scripts/system_table.py"


rule gate_table:
    input:
        planned(configured_gates),
    output:
        **table_files("gate"),
        json=LAYOUT.pattern("gate_json"),
    log:
        LAYOUT.log("gate_table"),
    benchmark:
        LAYOUT.benchmark("gate_table")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        scale=SETTINGS.scale,
    script:
        "../scripts/gate_table.py"


rule head_table:
    input:
        planned(configured_heads),
    output:
        **table_files("head"),
        json=LAYOUT.pattern("head_json"),
    log:
        LAYOUT.log("head_table"),
    benchmark:
        LAYOUT.benchmark("head_table")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        scale=SETTINGS.scale,
    script:
        "../scripts/head_table.py"


rule production_table:
    input:
        parses=planned(configured_gold_parses),
        trees=planned(configured_treebanks),
    output:
        **table_files("production"),
        json=LAYOUT.pattern("production_json"),
    log:
        LAYOUT.log("production_table"),
    benchmark:
        LAYOUT.benchmark("production_table")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        scale=SETTINGS.scale,
    script:
        "../scripts/production_table.py"


rule construction_table:
    input:
        hypotheses=planned(construction_inputs, file_type="hypotheses"),
        annotations=planned(construction_inputs, file_type="annotation"),
    output:
        **table_files("construction"),
        json=LAYOUT.pattern("construction_json"),
    log:
        LAYOUT.log("construction_table"),
    benchmark:
        LAYOUT.benchmark("construction_table")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        tests=planned(analysed_tests),
        baseline=planned(compared_baseline),
        left_out=planned(left_out_systems),
        scale=SETTINGS.scale,
    script:
        "../scripts/construction_table.py"


rule construction_figure:
    input:
        planned(construction_results),
    output:
        LAYOUT.pattern("construction_figure"),
    log:
        LAYOUT.log("construction_figure"),
    benchmark:
        LAYOUT.benchmark("construction_figure")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
    script:
        "../scripts/construction_figure.py"


rule example_table:
    input:
        hypotheses=planned(example_inputs, file_type="hypotheses"),
        pairs=planned(example_inputs, file_type="pairs"),
        supertags=planned(example_inputs, file_type="annotation"),
    output:
        **table_files("example"),
        json=LAYOUT.pattern("example_json"),
    log:
        LAYOUT.log("example_table"),
    benchmark:
        LAYOUT.benchmark("example_table")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        tests=planned(analysed_tests),
        baseline=planned(compared_baseline),
        left_out=planned(left_out_systems),
        scale=SETTINGS.scale,
    script:
        "../scripts/example_table.py"


rule curve_figure:
    input:
        planned(curve_histories),
    output:
        figure=LAYOUT.pattern("curve_figure"),
        json=LAYOUT.pattern("curve_json"),
    log:
        LAYOUT.log("curve_figure"),
    benchmark:
        LAYOUT.benchmark("curve_figure")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        beams=planned(validation_beams),
    script:
        "../scripts/curve_figure.py"


rule tag_table:
    input:
        hypotheses=planned(configured_tag_files, file_type="hypotheses"),
        pairs=planned(configured_tag_files, file_type="pairs"),
        features=planned(configured_tag_files, file_type="syntax"),
        labels=planned(configured_tag_files, file_type="labels"),
    output:
        **table_files("tag"),
        json=LAYOUT.pattern("tag_json"),
    log:
        LAYOUT.log("tag_table"),
    benchmark:
        LAYOUT.benchmark("tag_table")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        scale=SETTINGS.scale,
        columns=planned(configured_tag_columns),
    script:
        "../scripts/tag_table.py"


rule contrast_table:
    input:
        planned(configured_contrasts),
    output:
        **table_files("contrast"),
        json=LAYOUT.pattern("contrast_json"),
    log:
        LAYOUT.log("contrast_table"),
    benchmark:
        LAYOUT.benchmark("contrast_table")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        left_out=planned(without_contrasts),
    script:
        "../scripts/contrast_table.py"


# Runs and data are not declared as inputs, so that an index or a table of those that are there makes none again.
rule index_runs:
    output:
        runs=LAYOUT.pattern("all_runs"),
        scores=LAYOUT.pattern("all_scores"),
        checklist=LAYOUT.pattern("checklist"),
    log:
        LAYOUT.log("index_runs"),
    benchmark:
        LAYOUT.benchmark("index_runs")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        states=planned(run_states),
    script:
        "../scripts/index_runs.py"


rule licence_table:
    output:
        **table_files("licence"),
        json=LAYOUT.pattern("licence_json"),
    log:
        LAYOUT.log("licence_table"),
    benchmark:
        LAYOUT.benchmark("licence_table")
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        states=planned(run_states),
        datasets=planned(read_datasets),
    script:
        "../scripts/licence_table.py"
