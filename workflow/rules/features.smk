# Numbers for the models: subwords, and what the annotators say about their words.


rule extract_tokens:
    input:
        corpus=f"{DATA}/corpus/{{split}}.parquet",
        segmentation=f"{DATA}/segmentation/{{segmentation}}",
    output:
        f"{DATA}/features/{{segmentation}}/{{split}}.{{side}}.parquet",
    params:
        version=VERSIONS["features"],
    log:
        f"{LOGS}/{{dataset}}/features/{{segmentation}}/{{split}}.{{side}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/features/{{segmentation}}/{{split}}.{{side}}.tsv"
    resources:
        mem_mb=2000,
        runtime=240,
    conda:
        "../../envs/core.yaml"
    script:
        "../scripts/extract_tokens.py"


rule extract_syntax:
    input:
        annotation=f"{DATA}/annotation/{{annotator}}/{{split}}.{{side}}.parquet",
        labels=f"{DATA}/annotation/{{annotator}}/{{side}}.labels.json",
        tokens=f"{DATA}/features/{{segmentation}}/{{split}}.{{side}}.parquet",
    output:
        f"{DATA}/features/{{segmentation}}/{{split}}.{{side}}.{{annotator}}.parquet",
    params:
        version=VERSIONS["features"],
    log:
        f"{LOGS}/{{dataset}}/features/{{segmentation}}/{{split}}.{{side}}.{{annotator}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/features/{{segmentation}}/{{split}}.{{side}}.{{annotator}}.tsv"
    resources:
        mem_mb=2000,
        runtime=240,
    conda:
        "../../envs/core.yaml"
    script:
        "../scripts/extract_syntax.py"
