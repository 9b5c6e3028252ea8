# Trees and tags, a shard a job; and the labels that they use.


rule annotate_shard:
    input:
        corpus=f"{DATA}/corpus/{{split}}.parquet",
        raw=f"{DATA}/corpus/raw/{{split}}.parquet",
        models=annotator_models,
    output:
        temp(
            f"{DATA}/annotation/{{annotator}}/shards/{{split}}.{{side}}.{{shard}}-of-{{shards}}.parquet"
        ),
    log:
        f"{LOGS}/{{dataset}}/annotation/{{annotator}}/{{split}}.{{side}}.{{shard}}-of-{{shards}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/annotation/{{annotator}}/{{split}}.{{side}}.{{shard}}-of-{{shards}}.tsv"
    conda:
        "../../envs/annotation.yaml"
    resources:
        mem_mb=annotator_memory,
        runtime=480,
    params:
        version=VERSIONS["annotation"],
        settings=annotator_param,
        language=lambda wildcards: dataset_of(wildcards).language(wildcards.side),
    script:
        "../scripts/annotate_shard.py"


rule gather_annotation:
    input:
        corpus=f"{DATA}/corpus/{{split}}.parquet",
        shards=shard_files,
    output:
        annotation=f"{DATA}/annotation/{{annotator}}/{{split}}.{{side}}.parquet",
        report=f"{DATA}/annotation/{{annotator}}/{{split}}.{{side}}.json",
    log:
        f"{LOGS}/{{dataset}}/annotation/{{annotator}}/{{split}}.{{side}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/annotation/{{annotator}}/{{split}}.{{side}}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        version=VERSIONS["annotation"],
    script:
        "../scripts/gather_annotation.py"


rule label_vocabularies:
    input:
        annotation=f"{DATA}/annotation/{{annotator}}/train.{{side}}.parquet",
        selection=selection_file,
    output:
        f"{DATA}/annotation/{{annotator}}/{{side}}.labels.json",
    log:
        f"{LOGS}/{{dataset}}/annotation/{{annotator}}/{{side}}.labels.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/annotation/{{annotator}}/{{side}}.labels.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        version=VERSIONS["annotation"],
    script:
        "../scripts/label_vocabularies.py"


rule linearise:
    input:
        corpus=f"{DATA}/corpus/{{split}}.parquet",
        annotation=f"{DATA}/annotation/{{annotator}}/{{split}}.{{side}}.parquet",
    output:
        f"{DATA}/annotation/{{annotator}}/{{split}}.{{side}}.brackets.parquet",
    log:
        f"{LOGS}/{{dataset}}/annotation/{{annotator}}/{{split}}.{{side}}.brackets.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/annotation/{{annotator}}/{{split}}.{{side}}.brackets.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        version=VERSIONS["annotation"],
    script:
        "../scripts/linearise.py"


rule select_pairs:
    input:
        corpus=f"{DATA}/corpus/train.parquet",
        annotations=selection_annotations,
    output:
        selection=f"{DATA}/annotation/{SELECTION}/train.parquet",
        report=f"{DATA}/annotation/{SELECTION}/train.json",
    log:
        f"{LOGS}/{{dataset}}/annotation/{SELECTION}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/annotation/{SELECTION}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        version=VERSIONS["annotation"],
        selection=selection_param,
    script:
        "../scripts/select_pairs.py"


rule compare_annotations:
    input:
        corpus=f"{DATA}/corpus/{{split}}.parquet",
        first=f"{DATA}/annotation/{{annotator}}/{{split}}.{{side}}.parquet",
        second=f"{DATA}/annotation/{{other}}/{{split}}.{{side}}.parquet",
    output:
        f"{DATA}/annotation/{{annotator}}/{{split}}.{{side}}.against.{{other}}.json",
    log:
        f"{LOGS}/{{dataset}}/annotation/{{annotator}}/{{split}}.{{side}}.against.{{other}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/annotation/{{annotator}}/{{split}}.{{side}}.against.{{other}}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        version=VERSIONS["evaluation"],
    script:
        "../scripts/compare_annotations.py"
