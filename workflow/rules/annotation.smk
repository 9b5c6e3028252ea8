# Trees and tags, a shard a job; and the labels that they use.


rule annotate_shard:
    input:
        corpus=f"{DATA}/corpus/{{split}}.parquet",
        raw=f"{DATA}/corpus/raw/{{split}}.parquet",
    output:
        temp(
            f"{DATA}/annotation/{{annotator}}/shards/{{split}}.{{side}}.{{shard}}-of-{{shards}}.parquet"
        ),
    log:
        f"{LOGS}/{{dataset}}/annotation/{{annotator}}/{{split}}.{{side}}.{{shard}}-of-{{shards}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/annotation/{{annotator}}/{{split}}.{{side}}.{{shard}}-of-{{shards}}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=4000,
        runtime=480,
    params:
        version=VERSIONS["annotation"],
        settings=lambda wildcards: annotator_entry(annotator_of(wildcards)),
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
        f"{DATA}/annotation/{{annotator}}/train.{{side}}.parquet",
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
