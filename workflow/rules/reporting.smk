# Tables of the configured data sets and systems: sizes after each stage, annotations, scores of parsers and systems,
# gates by tag, attention heads as parsers, productions.
# A name of the user's choice, results/tables/NAME/systems.md, keeps several versions of a table apart.
from nmtcore.planning.configured import (
    configured_gates,
    configured_gold_parses,
    configured_heads,
    configured_histories,
    configured_scores,
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


localrules:
    data_table,
    annotation_table,
    parser_table,
    system_table,
    gate_table,
    head_table,
    production_table,


rule data_table:
    input:
        reports=planned(configured_reports),
        features=planned(configured_tokens),
    output:
        table=LAYOUT.pattern("data_table"),
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
        table=LAYOUT.pattern("annotation_table"),
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
        table=LAYOUT.pattern("parser_table"),
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
        table=LAYOUT.pattern("system_table"),
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
    script:
        "../scripts/system_table.py"


rule gate_table:
    input:
        planned(configured_gates),
    output:
        table=LAYOUT.pattern("gate_table"),
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
        table=LAYOUT.pattern("head_table"),
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
        table=LAYOUT.pattern("production_table"),
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
