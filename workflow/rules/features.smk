# Numbers for the models: subwords, and what the annotators say about their words.


rule extract_tokens:
    input:
        corpus=f"{DATA}/corpus/{{split}}.parquet",
        selection=selection_file,
        brackets=brackets_file,
        segmentation=lambda wildcards: segmentation_folder(
            wildcards.dataset, wildcards.segmentation
        ),
    output:
        f"{DATA}/features/{{segmentation}}/{{split}}.{{side}}.parquet",
    log:
        f"{LOGS}/{{dataset}}/features/{{segmentation}}/{{split}}.{{side}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/features/{{segmentation}}/{{split}}.{{side}}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=240,
    params:
        version=VERSIONS["features"],
    script:
        "../scripts/extract_tokens.py"


rule extract_syntax:
    input:
        annotation=f"{DATA}/annotation/{{annotator}}/{{split}}.{{side}}.parquet",
        selection=selection_file,
        labels=labels_of_features,
        tokens=f"{DATA}/features/{{segmentation}}/{{split}}.{{side}}.parquet",
    output:
        f"{DATA}/features/{{segmentation}}/{{split}}.{{side}}.{{annotator}}.parquet",
    log:
        f"{LOGS}/{{dataset}}/features/{{segmentation}}/{{split}}.{{side}}.{{annotator}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/features/{{segmentation}}/{{split}}.{{side}}.{{annotator}}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=240,
    params:
        version=VERSIONS["features"],
        kinds=kinds_of,
    script:
        "../scripts/extract_syntax.py"
