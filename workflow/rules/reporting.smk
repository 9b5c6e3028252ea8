# Tables of the configured data sets: what each stage left, what the annotators say, how well they parse.
TABLES = f"{RESULTS}/tables"


localrules:
    data_table,
    annotation_table,
    parser_table,
    system_table,


rule data_table:
    input:
        reports=configured_reports,
        features=configured_data,
    output:
        table=f"{TABLES}/data.md",
        json=f"{TABLES}/data.json",
    log:
        f"{LOGS}/data_table.log",
    benchmark:
        f"{BENCHMARKS}/data_table.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        published=published_sizes("pairs"),
        benchmarks=BENCHMARKS,
    script:
        "../scripts/data_table.py"


rule annotation_table:
    input:
        reports=configured_annotation_reports,
        labels=configured_labels,
    output:
        table=f"{TABLES}/annotation.md",
        json=f"{TABLES}/annotation.json",
    log:
        f"{LOGS}/annotation_table.log",
    benchmark:
        f"{BENCHMARKS}/annotation_table.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        published=published_sizes("tags"),
    script:
        "../scripts/annotation_table.py"


rule parser_table:
    input:
        configured_comparisons,
    output:
        table=f"{TABLES}/parsers.md",
        json=f"{TABLES}/parsers.json",
    log:
        f"{LOGS}/parser_table.log",
    benchmark:
        f"{BENCHMARKS}/parser_table.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        datasets=list(SETTINGS.datasets),
        benchmarks=BENCHMARKS,
    script:
        "../scripts/parser_table.py"


rule system_table:
    input:
        bleu=configured_results("bleu"),
        uas=configured_results("uas"),
        histories=configured_histories,
    output:
        table=f"{TABLES}/systems.md",
        json=f"{TABLES}/systems.json",
    log:
        f"{LOGS}/system_table.log",
    benchmark:
        f"{BENCHMARKS}/system_table.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        scale=SETTINGS.scale,
    script:
        "../scripts/system_table.py"
