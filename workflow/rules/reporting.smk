# Tables of the configured data sets and systems, each with a name of its own where the user gives one: what each stage
# left, what the annotators say, how well they parse, how well systems do.
TABLES = f"{RESULTS}/tables/{{table}}"


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
        table=f"{TABLES}data.md",
        json=f"{TABLES}data.json",
    log:
        f"{LOGS}/tables/{{table}}data.log",
    benchmark:
        f"{BENCHMARKS}/tables/{{table}}data.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        published=published_sizes("pairs"),
    script:
        "../scripts/data_table.py"


rule annotation_table:
    input:
        reports=configured_annotation_reports,
        labels=configured_labels,
    output:
        table=f"{TABLES}annotation.md",
        json=f"{TABLES}annotation.json",
    log:
        f"{LOGS}/tables/{{table}}annotation.log",
    benchmark:
        f"{BENCHMARKS}/tables/{{table}}annotation.tsv"
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
        table=f"{TABLES}parsers.md",
        json=f"{TABLES}parsers.json",
    log:
        f"{LOGS}/tables/{{table}}parsers.log",
    benchmark:
        f"{BENCHMARKS}/tables/{{table}}parsers.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        datasets=list(SETTINGS.datasets),
    script:
        "../scripts/parser_table.py"


rule system_table:
    input:
        bleu=configured_results("bleu"),
        uas=configured_results("uas"),
        histories=configured_histories,
    output:
        table=f"{TABLES}systems.md",
        json=f"{TABLES}systems.json",
    log:
        f"{LOGS}/tables/{{table}}systems.log",
    benchmark:
        f"{BENCHMARKS}/tables/{{table}}systems.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        version=VERSIONS["reporting"],
        scale=SETTINGS.scale,
    script:
        "../scripts/system_table.py"
